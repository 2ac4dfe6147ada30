//! The codec against mysql_common, an independent client library's.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says by a panic what is wrong, also in the functions around it"
)]

use mysql_common::constants::{CapabilityFlags, ColumnType, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, Column, CommonOkPacket, HandshakePacket, HandshakeResponse,
    OkPacketDeserializer, ResultSetTerminator, StmtPacket,
};
use mysql_common::proto::{MyDeserialize, MySerialize};
use proptest::prelude::*;
use std::collections::HashMap;
use wire::auth::{self, caching_sha2, native};
use wire::frame::HEADER;
use wire::{
    AuthPacket, Capabilities, ErrPacket, Greeting, Header, Login, OkPacket, PrepareOk, SessionTrack, Status,
    Wanted,
};

fn read<'a, T: MyDeserialize<'a>>(bytes: &'a [u8], context: T::Ctx) -> T {
    let mut buffer = ParseBuf(bytes);
    let value = T::deserialize(context, &mut buffer).unwrap();
    assert!(buffer.is_empty(), "left over: {:?}", buffer.0);
    value
}

fn written(value: &impl MySerialize) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.serialize(&mut bytes);
    bytes
}

fn flags(capabilities: Capabilities) -> CapabilityFlags {
    CapabilityFlags::from_bits_truncate(capabilities.0)
}

fn no_nul(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(1..=255_u8, length)
}

proptest! {
    #[test]
    fn greetings(version in "[0-9.a-zA-Z-]{1,20}", id: u32, scramble in no_nul(20..21), low: u16, collation: u8) {
        let capabilities = Capabilities(u32::from(low)) | Capabilities::LONG_PASSWORD | Capabilities::PLUGIN_AUTH
            | Capabilities::SECURE_CONNECTION | Capabilities::PROTOCOL_41;
        let ours = Greeting {
            server_version: version.as_bytes(),
            connection_id: id,
            scramble: scramble.as_slice().try_into().unwrap(),
            capabilities,
            collation,
            status: Status::AUTOCOMMIT,
            auth_plugin: b"caching_sha2_password",
            mariadb_extended: 0,
        };
        let mut bytes = Vec::new();
        ours.write(&mut bytes);
        let theirs: HandshakePacket<'_> = read(&bytes, ());
        prop_assert_eq!(theirs.server_version_ref(), version.as_bytes());
        prop_assert_eq!(theirs.connection_id(), id);
        prop_assert_eq!(&theirs.nonce()[..20], scramble.as_slice());
        prop_assert_eq!(theirs.capabilities(), flags(capabilities));
        prop_assert_eq!(theirs.default_collation(), collation);
        prop_assert_eq!(theirs.auth_plugin_name_ref(), Some(b"caching_sha2_password".as_slice()));
        let again = written(&theirs);
        prop_assert_eq!(Greeting::parse(&again), Ok(ours));
    }

    #[test]
    fn logins(
        user in no_nul(1..30),
        schema in prop::option::of(no_nul(1..30)),
        response in no_nul(1..40),
        bits: u32,
        attribute in prop::option::of(("[a-z_]{1,20}", ".{0,20}")),
    ) {
        let spoken = (Capabilities(bits) | Capabilities::PROTOCOL_41 | Capabilities::LONG_PASSWORD)
            .without(Capabilities::SSL | Capabilities::ZSTD_COMPRESSION_ALGORITHM);
        let theirs = HandshakeResponse::new(
            Some(response.as_slice()),
            (8, 0, 0),
            Some(user.as_slice()),
            schema.as_deref(),
            Some(AuthPlugin::CachingSha2Password),
            flags(spoken),
            attribute.clone().map(|pair| HashMap::from([pair])),
            1 << 24,
        );
        let bytes = written(&theirs);
        let ours = Login::parse(&bytes).unwrap();
        prop_assert_eq!(flags(ours.capabilities), theirs.capabilities());
        prop_assert_eq!((ours.max_packet, ours.collation), (1 << 24, 45));
        prop_assert_eq!(ours.user, user.as_slice());
        prop_assert_eq!(ours.auth_response, response.as_slice());
        prop_assert_eq!(ours.schema, schema.as_deref());
        prop_assert_eq!(ours.auth_plugin, Some(b"caching_sha2_password".as_slice()));
        let pairs: Vec<_> = ours.attribute_pairs().collect();
        let due: Vec<_> = attribute.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        prop_assert_eq!(pairs, due);
        let mut again = Vec::new();
        ours.write(&mut again).unwrap();
        prop_assert_eq!(again, bytes);
    }

    #[test]
    fn responses(password in no_nul(1..40), nonce in prop::array::uniform20(any::<u8>())) {
        let native_response = mysql_common::auth::plugins::mysql_native_password::scramble_native(&nonce, &password);
        prop_assert_eq!(Some(native::scramble(&native::stage1(&password), &nonce)), native_response);
        let sha2_response = mysql_common::auth::plugins::caching_sha2_password::scramble_sha256(&nonce, &password);
        prop_assert_eq!(Some(caching_sha2::scramble(&caching_sha2::stage1(&password), &nonce)), sha2_response);
    }

    #[test]
    fn ok_packets(
        affected in 1..u64::MAX,
        id in 1..u64::MAX,
        warnings: u16,
        info in no_nul(1..60),
        gtids in no_nul(1..300),
        track: bool,
    ) {
        let block = [vec![0], lenenc(&gtids)].concat();
        let entry = [vec![3], lenenc(&block)].concat();
        let ours = OkPacket {
            affected_rows: affected,
            last_insert_id: id,
            status: Status::AUTOCOMMIT | Status::SESSION_STATE_CHANGED,
            warnings,
            info: &info,
            tracked: SessionTrack::parse(&entry).unwrap(),
        };
        let receiver = if track { Capabilities::SESSION_TRACK } else { Capabilities::default() };
        let mut bytes = Vec::new();
        ours.write(&mut bytes, 0, receiver, &Wanted::everything()).unwrap();
        let theirs = read::<OkPacketDeserializer<'_, CommonOkPacket>>(&bytes, flags(receiver)).into_inner();
        prop_assert_eq!((theirs.affected_rows(), theirs.last_insert_id()), (affected, Some(id)));
        prop_assert_eq!((theirs.warnings(), theirs.info_ref()), (warnings, Some(info.as_slice())));
        let changed = theirs.status_flags().contains(StatusFlags::SERVER_SESSION_STATE_CHANGED);
        prop_assert_eq!((changed, theirs.session_state_info_ref()), (track, track.then_some(entry.as_slice())));
        if track {
            bytes[0] = 0xFE;
            let end = read::<OkPacketDeserializer<'_, ResultSetTerminator>>(&bytes, flags(receiver)).into_inner();
            prop_assert_eq!(end.warnings(), warnings);
        }
    }

    #[test]
    fn errors(code in 1000..5000_u16, state in "[0-9A-Z]{5}", message in ".{0,40}") {
        let sql_state: [u8; 5] = state.as_bytes().try_into().unwrap();
        let ours = ErrPacket { code, sql_state, message: message.as_bytes().into() };
        let mut bytes = Vec::new();
        ours.write(&mut bytes, Capabilities::PROTOCOL_41);
        let theirs: mysql_common::packets::ErrPacket<'_> = read(&bytes, CapabilityFlags::CLIENT_PROTOCOL_41);
        let theirs = theirs.server_error();
        prop_assert_eq!((theirs.error_code(), theirs.message_ref()), (code, message.as_bytes()));
        prop_assert_eq!(theirs.sql_state_ref().unwrap().as_bytes(), sql_state);
    }

    #[test]
    fn requests_to_switch(nonce in no_nul(20..21)) {
        let mut bytes = Vec::new();
        auth::write_switch(&mut bytes, b"mysql_native_password", &nonce);
        let theirs: AuthSwitchRequest<'_> = read(&bytes, ());
        prop_assert_eq!(theirs.auth_plugin(), AuthPlugin::MysqlNativePassword);
        prop_assert_eq!(theirs.plugin_data(), nonce.as_slice());
        let again = written(&theirs);
        let ours = AuthPacket::Switch { plugin: b"mysql_native_password", data: &nonce };
        prop_assert_eq!(AuthPacket::parse(&again, Capabilities::default()), Ok(ours));
    }

    #[test]
    fn answers_to_prepare(statement_id: u32, columns: u16, params: u16, warnings: u16) {
        let mut bytes = Vec::new();
        PrepareOk { statement_id, columns, params, warnings }.write(&mut bytes);
        let theirs: StmtPacket = read(&bytes, ());
        prop_assert_eq!((theirs.statement_id(), theirs.num_columns()), (statement_id, columns));
        prop_assert_eq!((theirs.num_params(), theirs.warning_count()), (params, warnings));
    }
}

#[test]
fn the_columns_of_the_proxys_own_results() {
    let mut bytes = Vec::new();
    let receiver = Capabilities::DEPRECATE_EOF;
    wire::rows::write_text_result(
        &mut bytes,
        &mut 1,
        &[("Node", wire::rows::ColumnType::Text)],
        &[],
        Status::AUTOCOMMIT,
        (receiver, 0),
    )
    .unwrap();
    let definition = &bytes[HEADER + 1..];
    let length = Header::parse(definition).unwrap().length;
    let column: Column = read(&definition[HEADER..HEADER + length], ());
    assert_eq!(column.name_ref(), b"Node");
    assert_eq!(column.column_type(), ColumnType::MYSQL_TYPE_VAR_STRING);
    assert_eq!(column.character_set(), 45);
}

fn lenenc(text: &[u8]) -> Vec<u8> {
    let [low, high, ..] = text.len().to_le_bytes();
    let head = if text.len() < 251 { vec![low] } else { vec![0xFC, low, high] };
    [head, text.to_vec()].concat()
}
