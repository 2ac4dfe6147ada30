//! What a server says to a client that speaks less must be what the walker makes of what it says to the proxy.

use crate::parser::{Packet, parse};
use crate::recording::{Recording, expect, recordings};
use crate::walk::{COMBINATIONS, Event, view, walk, walk_whole};
use wire::{Capabilities, Expect, Progress, ReplyError, ReplyWalker, Status, Wanted};

#[test]
fn a_client_of_the_same_capabilities_gets_the_bytes_untouched() {
    let wanted = Wanted::everything();
    for recording in recordings() {
        for name in recording.names() {
            let stream = recording.reply(name, "11");
            let walked = walk_whole(expect(name), 1, stream, &view(COMBINATIONS[0].1, &wanted)).unwrap();
            let mut same = stream.to_vec();
            if expect(name) == Expect::Prepare && stream[4] == 0 {
                same[5..9].copy_from_slice(&77_u32.to_le_bytes());
            }
            assert_eq!(walked.out, same, "{} {name}", recording.server);
            assert_eq!(walked.consumed, stream.len(), "{} {name}", recording.server);
            let end = if name.ends_with("infile") { Progress::LocalInfile } else { Progress::Done };
            assert_eq!(walked.progress, end, "{} {name}", recording.server);
        }
    }
}

#[test]
fn other_clients_get_what_the_server_would_have_told_them() {
    let wanted = Wanted::everything();
    for recording in recordings() {
        // What these hold differs from one connection to the next.
        let same = |name: &&str| !["statistics", "process_info"].contains(name);
        for name in recording.names().into_iter().filter(same) {
            for (tag, capabilities) in COMBINATIONS {
                let stream = recording.reply(name, "11");
                let mut walker = ReplyWalker::new(expect(name), 1).with_results(1);
                let walked = walk(&mut walker, stream, &[], &view(capabilities, &wanted)).unwrap();
                compare(&recording, name, tag, capabilities, &walked.out);
            }
        }
    }
}

fn compare(recording: &Recording, name: &str, tag: &str, capabilities: Capabilities, translated: &[u8]) {
    // A server that has no room for session state in an EOF tells it in the next OK, be it another command's.
    let anywhere = tag == "01" && (name.ends_with("call") || name == "cursor_reset");
    let packets = |stream| {
        let packets = parse(expect(name), 1, stream, capabilities).into_iter();
        packets.map(|packet| comparable(packet, anywhere)).collect::<Vec<_>>()
    };
    assert_eq!(packets(translated), packets(recording.reply(name, tag)), "{} {name} {tag}", recording.server);
}

/// Takes out what differs between two runs, and what an EOF behind definitions cannot know in advance.
fn comparable(packet: Packet, state_anywhere: bool) -> Packet {
    let changed = Status::SESSION_STATE_CHANGED | Status::ANSI_QUOTES;
    match packet {
        // The session's own flags are the view's, which here is of a new session.
        Packet::MiddleEof(status) => Packet::MiddleEof(ahead(status)),
        // To old clients MySQL tells of OUT parameters, and of the result behind them, in the EOF in front of them.
        Packet::LastEof(status) if status.contains(Status::PS_OUT_PARAMS) => {
            Packet::LastEof(status.without(changed | Status::PS_OUT_PARAMS | Status::MORE_RESULTS_EXISTS))
        }
        Packet::LastEof(status) => Packet::LastEof(status.without(changed)),
        Packet::Ok { header, affected_rows, last_insert_id, status, info, tracked } => {
            let tracked = vec![u8::from(!tracked.is_empty() || state_anywhere)];
            Packet::Ok {
                header,
                affected_rows,
                last_insert_id,
                status: status.without(changed),
                info,
                tracked,
            }
        }
        Packet::Prepared(ok) => Packet::Prepared(wire::PrepareOk { statement_id: 0, ..ok }),
        // MariaDB numbers statements across connections, and names the number in its text.
        Packet::Err(code, text) => {
            Packet::Err(code, text.into_iter().filter(|byte| !byte.is_ascii_digit()).collect())
        }
        packet => packet,
    }
}

/// What an EOF in front of rows tells of what comes behind them.
fn ahead(status: Status) -> Status {
    Status(status.0 & (Status::MORE_RESULTS_EXISTS | Status::PS_OUT_PARAMS).0)
}

/// Of rows that do not come in one piece it is known only from the command what follows them.
#[test]
fn further_results_are_announced_in_front_of_rows_that_come_in_pieces() {
    let wanted = Wanted::everything();
    let old = view(Capabilities::PROTOCOL_41, &wanted);
    for recording in recordings() {
        for (name, least, announced) in [
            ("call", u32::MAX, vec![true, true]),
            ("call", 1, vec![false, false]),
            ("multi", 3, vec![true, false]),
        ] {
            let stream = recording.reply(name, "11");
            let every_byte: Vec<usize> = (1..stream.len()).collect();
            let mut walker = ReplyWalker::new(expect(name), 1).with_results(least);
            let walked = walk(&mut walker, stream, &every_byte, &old).unwrap();
            let told = parse(expect(name), 1, &walked.out, Capabilities::PROTOCOL_41);
            let said: Vec<bool> = told
                .iter()
                .filter_map(|packet| match packet {
                    Packet::MiddleEof(status) => Some(status.contains(Status::MORE_RESULTS_EXISTS)),
                    _ => None,
                })
                .collect();
            assert_eq!(said, announced, "{} {name} {least}", recording.server);
        }
    }
}

#[test]
fn a_local_file_is_asked_for_and_the_reply_goes_on_behind_it() {
    let wanted = Wanted::everything();
    for recording in recordings() {
        for (name, end) in [("infile", "infile_end"), ("multi_infile", "multi_infile_end")] {
            for (tag, capabilities) in COMBINATIONS {
                let view = view(capabilities, &wanted);
                let mut walker = ReplyWalker::new(Expect::Query, 1);
                let first = walk(&mut walker, recording.reply(name, "11"), &[], &view).unwrap();
                assert_eq!(first.progress, Progress::LocalInfile);
                let rest = recording.reply(end, "11");
                walker.resume_after_infile(rest[3]);
                let second = walk(&mut walker, rest, &[], &view).unwrap();
                assert_eq!(second.progress, Progress::Done);
                assert!(matches!(second.events[..], [Event::Ok { .. }]));
                let direct = recording.reply(end, tag);
                assert_eq!(second.out[3], direct[3], "{} {end} {tag}: sequence number", recording.server);
                assert_eq!(second.out[3], rest[3] + walker.sequence_shift());
            }
        }
    }
}

#[test]
fn the_error_of_an_idle_connection_is_told_by_its_code() {
    let wanted = Wanted::default();
    let [mysql, mariadb] = recordings();
    let stream = mysql.reply("idle", "11");
    for cut in 0..stream.len() {
        let mut walker = ReplyWalker::new(Expect::Query, 1);
        let error = walk(&mut walker, stream, &[cut], &view(COMBINATIONS[3].1, &wanted)).unwrap_err();
        assert_eq!(error, ReplyError::OutOfOrder { expected: 1, got: 0, error: Some(4031) });
    }
    assert!(mariadb.reply("idle", "11").is_empty());
}

#[test]
fn what_the_client_did_not_ask_for_is_taken_out() {
    let both = COMBINATIONS[0].1;
    let [mysql, mariadb] = recordings();
    for recording in [mysql, mariadb] {
        let stream = recording.reply("insert", "11");
        let walked = walk_whole(Expect::Query, 1, stream, &view(both, &Wanted::default())).unwrap();
        let [Packet::Ok { status, info, tracked, .. }] = &parse(Expect::Query, 1, &walked.out, both)[..]
        else {
            panic!("not one OK");
        };
        assert!(!status.contains(Status::SESSION_STATE_CHANGED));
        assert!(tracked.is_empty());
        assert_eq!(info, b"Records: 2  Duplicates: 0  Warnings: 0");
        let [Event::Ok { tracked, .. }] = &walked.events[..] else { panic!("not one event") };
        assert!(!tracked.is_empty(), "the proxy itself hears all");

        // Of SET NAMES, sql_mode = ... the variables of the servers' default list stay.
        let stream = recording.reply("set_names", "11");
        let walked = walk_whole(Expect::Query, 1, stream, &view(both, &Wanted::default())).unwrap();
        let ok = wire::OkPacket::parse(&walked.out[4..], both).unwrap();
        let mut names: Vec<&[u8]> = ok
            .tracked
            .iter()
            .map(|tracked| match tracked {
                Ok(wire::Tracked::Variable { name, .. }) => name,
                other => panic!("not asked for: {other:?}"),
            })
            .collect();
        names.sort();
        let character_sets: [&[u8]; 3] =
            [b"character_set_client", b"character_set_connection", b"character_set_results"];
        assert_eq!(names, character_sets);
    }
}

#[test]
fn a_client_is_told_of_a_transaction_that_the_server_does_not_know() {
    let wanted = Wanted::everything();
    let added = |packet| match packet {
        Packet::Ok { header, affected_rows, last_insert_id, status, info, tracked } => {
            let status = status | Status::IN_TRANS;
            Packet::Ok { header, affected_rows, last_insert_id, status, info, tracked }
        }
        Packet::MiddleEof(status) => Packet::MiddleEof(status | Status::IN_TRANS),
        Packet::LastEof(status) => Packet::LastEof(status | Status::IN_TRANS),
        packet => packet,
    };
    for recording in recordings() {
        for name in recording.names() {
            for (tag, capabilities) in COMBINATIONS {
                let (stream, view) = (recording.reply(name, "11"), view(capabilities, &wanted));
                let plain = walk_whole(expect(name), 1, stream, &view).unwrap();
                let packets = parse(expect(name), 1, &plain.out, capabilities);
                let expected: Vec<_> = packets.into_iter().map(added).collect();
                let every_byte: Vec<usize> = (1..stream.len()).collect();
                for cuts in [&[][..], &every_byte] {
                    let mut walker = ReplyWalker::new(expect(name), 1).with_status(Status::IN_TRANS);
                    let walked = walk(&mut walker, stream, cuts, &view).unwrap();
                    let told = parse(expect(name), 1, &walked.out, capabilities);
                    assert_eq!(told, expected, "{} {name} {tag}", recording.server);
                    assert_eq!(walked.events, plain.events, "{} {name} {tag}", recording.server);
                }
            }
        }
    }
}
