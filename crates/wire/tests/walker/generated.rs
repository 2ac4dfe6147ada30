//! Made-up replies: what the walker passes on must be, byte for byte, what the server would have sent to such a client.

use crate::model::reply;
use crate::parser::parse;
use crate::walk::{COMBINATIONS, view, walk};
use proptest::prelude::*;
use wire::{Expect, Progress, ReplyWalker, TransactionWanted, Wanted, WantedVariables};

fn wanted() -> impl Strategy<Value = Wanted> {
    let transaction = prop::sample::select(vec![
        TransactionWanted::Off,
        TransactionWanted::State,
        TransactionWanted::Characteristics,
    ]);
    let variables = prop::sample::select(vec!["", "*", "AUTOCOMMIT", "sql_mode,character_set_client"]);
    (any::<(bool, bool, bool)>(), transaction, variables).prop_map(
        |((schema, state_change, gtids), transaction, variables)| Wanted {
            schema,
            state_change,
            gtids,
            transaction,
            variables: WantedVariables::parse(variables.as_bytes()),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn translation_is_exact(
        (expect, reply) in prop_oneof![
            (Just(Expect::Query), reply(false)),
            (Just(Expect::Execute), reply(true)),
        ],
        wanted in wanted(),
        (server_first, client_first) in any::<(u8, u8)>(),
        mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let stream = reply.stream_of_server(server_first);
        cuts.sort_by_key(|cut| cut.index(stream.len() + 1));
        let cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        for (_, capabilities) in COMBINATIONS {
            let mut walker = ReplyWalker::new(expect, server_first).with_client_sequence(client_first);
            let walked = walk(&mut walker, &stream, &cuts, &view(capabilities, &wanted)).unwrap();
            prop_assert_eq!(walked.progress, Progress::Done);
            let due = reply.stream_for(client_first, capabilities, &wanted);
            prop_assert_eq!(&walked.out, &due);
            parse(expect, client_first, &walked.out, capabilities);
        }
    }
}
