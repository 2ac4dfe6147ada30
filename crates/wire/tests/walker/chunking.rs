//! However a reply is cut into pieces, the same comes of it.

use crate::recording::{expect, recordings};
use crate::walk::{COMBINATIONS, view, walk, walk_whole};
use proptest::prelude::*;
use wire::{ReplyWalker, Wanted};

#[test]
fn one_byte_at_a_time_and_at_every_cut() {
    for wanted in [Wanted::everything(), Wanted::default()] {
        for recording in recordings() {
            for name in recording.names() {
                for (tag, capabilities) in COMBINATIONS {
                    let stream = recording.reply(name, "11");
                    let view = view(capabilities, &wanted);
                    let whole = walk_whole(expect(name), 1, stream, &view).unwrap();
                    let new = || ReplyWalker::new(expect(name), 1);
                    let bytes: Vec<usize> = (1..stream.len()).collect();
                    let slowly = walk(&mut new(), stream, &bytes, &view).unwrap();
                    assert_eq!(slowly, whole, "{} {name} {tag}, one byte at a time", recording.server);
                    for cut in 0..=stream.len() {
                        let cut_once = walk(&mut new(), stream, &[cut], &view).unwrap();
                        assert_eq!(cut_once, whole, "{} {name} {tag}, cut at {cut}", recording.server);
                    }
                }
            }
        }
    }
}

#[test]
fn what_follows_a_reply_is_left_alone() {
    let wanted = Wanted::everything();
    for recording in recordings() {
        for name in recording.names() {
            for (_, capabilities) in COMBINATIONS {
                let stream = recording.reply(name, "11");
                let view = view(capabilities, &wanted);
                let alone = walk_whole(expect(name), 1, stream, &view).unwrap();
                let followed = [stream, &[9, 9, 9, 9, 9, 9, 9, 9]].concat();
                assert_eq!(walk_whole(expect(name), 1, &followed, &view).unwrap(), alone);
            }
        }
    }
}

#[test]
fn a_reply_cut_short_is_not_done() {
    let wanted = Wanted::everything();
    for recording in recordings() {
        for name in recording.names() {
            let stream = recording.reply(name, "11");
            for cut in 0..stream.len() {
                let view = view(COMBINATIONS[3].1, &wanted);
                let walked = walk_whole(expect(name), 1, &stream[..cut], &view).unwrap();
                assert_eq!(walked.progress, wire::Progress::More, "{} {name} {cut}", recording.server);
            }
        }
    }
}

proptest! {
    /// A damaged reply is followed or refused, in any pieces, and to the same end.
    #[test]
    fn damage_does_no_harm(
        server in 0..2_usize,
        reply in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        combination in 0..4_usize,
        mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let recording = &recordings()[server];
        let names = recording.names();
        let name = names[reply.index(names.len())];
        let mut stream = recording.reply(name, "11").to_vec();
        for (place, byte) in damage {
            let place = place.index(stream.len());
            stream[place] = byte;
        }
        cuts.sort_by_key(|cut| cut.index(stream.len() + 1));
        let cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        let wanted = Wanted::default();
        let view = view(COMBINATIONS[combination].1, &wanted);
        let whole = walk_whole(expect(name), 1, &stream, &view);
        let pieces = walk(&mut ReplyWalker::new(expect(name), 1), &stream, &cuts, &view);
        prop_assert_eq!(pieces, whole);
    }
}
