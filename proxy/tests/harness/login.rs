//! Logging in as a client: every plugin, written anew from the protocol's description.

use std::path::PathBuf;

use aws_lc_rs::rsa::{OAEP_SHA1_MGF1SHA1, OaepPublicEncryptingKey, PublicEncryptingKey};
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;
use wire::auth::{caching_sha2, ed25519, native};
use wire::login::{Login, write_ssl_request};
use wire::{AuthPacket, Capabilities, ChangeUser};

use super::client::{Client, Failure, ServerError};
use super::packed::Algorithm;
use super::stream::Target;

/// What an ordinary client of today asks for.
pub(crate) const ORDINARY: Capabilities = Capabilities(
    Capabilities::LONG_PASSWORD.0
        | Capabilities::LONG_FLAG.0
        | Capabilities::PROTOCOL_41.0
        | Capabilities::TRANSACTIONS.0
        | Capabilities::SECURE_CONNECTION.0
        | Capabilities::MULTI_RESULTS.0
        | Capabilities::PS_MULTI_RESULTS.0
        | Capabilities::PLUGIN_AUTH.0
        | Capabilities::PLUGIN_AUTH_LENENC_DATA.0
        | Capabilities::DEPRECATE_EOF.0,
);

/// utf8mb4_general_ci: the same id in both families.
pub(crate) const UTF8MB4: u16 = 45;

/// How the client's side of the socket is protected.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tls {
    No,
    /// With any certificate.
    Yes,
    /// The same, resuming an earlier session where there is one.
    Again,
    /// With one that this authority vouches for.
    Checked(PathBuf),
}

/// Who logs in, and how.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    pub(crate) user: String,
    pub(crate) password: String,
    pub(crate) schema: Option<String>,
    /// The plugin of the first answer; the greeting's own when absent.
    pub(crate) plugin: Option<&'static str>,
    pub(crate) capabilities: Capabilities,
    /// MariaDB's own.
    pub(crate) extended: u32,
    pub(crate) collation: u16,
    pub(crate) tls: Tls,
    /// Connection attributes: names and values.
    pub(crate) attributes: Vec<(String, String)>,
}

impl Account {
    pub(crate) fn new(user: &str, password: &str) -> Self {
        Self {
            user: user.to_owned(),
            password: password.to_owned(),
            schema: None,
            plugin: None,
            capabilities: ORDINARY,
            extended: 0,
            collation: UTF8MB4,
            tls: Tls::No,
            attributes: Vec::new(),
        }
    }

    /// The sandbox's account of applications.
    pub(crate) fn app() -> Self {
        Self::new(sandbox::APP_USER, sandbox::APP_PASSWORD)
    }

    pub(crate) fn schema(mut self, schema: &str) -> Self {
        self.schema = Some(schema.to_owned());
        self
    }

    pub(crate) fn plugin(mut self, plugin: &'static str) -> Self {
        self.plugin = Some(plugin);
        self
    }

    pub(crate) fn tls(mut self, tls: Tls) -> Self {
        self.tls = tls;
        self
    }

    /// Asks for these capabilities besides the ordinary ones.
    pub(crate) fn with(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = self.capabilities | capabilities;
        self
    }

    /// Does without these.
    pub(crate) fn without(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = self.capabilities.without(capabilities);
        self
    }

    /// Connects and logs in; the server's words when it is refused.
    pub(crate) fn connect(&self, target: &Target) -> Result<Client, ServerError> {
        match self.try_connect(target) {
            Ok(client) => Ok(client),
            Err(Failure::Refused(error)) => Err(error),
            Err(Failure::Broken(what)) => panic!("{} could not log in: {what}", self.user),
        }
    }

    /// The same, for connections that are expected to break.
    pub(crate) fn try_connect(&self, target: &Target) -> Result<Client, Failure> {
        let mut client = Client::greeted(target)?;
        self.log_in(&mut client)?;
        Ok(client)
    }

    /// Answers the greeting and all that follows it, until OK.
    pub(crate) fn log_in(&self, client: &mut Client) -> Result<(), Failure> {
        let offered = client.greeting.capabilities;
        let mut wanted = self.capabilities;
        if self.schema.is_some() {
            wanted = wanted | Capabilities::CONNECT_WITH_DB;
        }
        if !self.attributes.is_empty() {
            wanted = wanted | Capabilities::CONNECT_ATTRS;
        }
        // LONG_PASSWORD tells MySQL's clients from MariaDB's, whose servers do not announce it.
        let mut capabilities = wanted & (offered | Capabilities::LONG_PASSWORD);
        let extended = self.extended & client.greeting.extended;
        if extended != 0 {
            capabilities = capabilities.without(Capabilities::LONG_PASSWORD);
        }
        if self.tls != Tls::No {
            assert!(offered.contains(Capabilities::SSL), "TLS is not offered");
            capabilities = capabilities | Capabilities::SSL;
            let mut payload = Vec::new();
            write_ssl_request(&mut payload, (capabilities, extended), 1 << 30, self.collation);
            client.send(&payload)?;
            match &self.tls {
                Tls::Checked(path) => client.stream.start_tls(Some(path))?,
                Tls::Again => client.stream.resume_tls()?,
                Tls::Yes | Tls::No => client.stream.start_tls(None)?,
            }
        }
        client.capabilities = capabilities;
        let plugin = self.plugin.map_or(client.greeting.plugin.clone(), |plugin| plugin.as_bytes().to_vec());
        let response = answer(&plugin, self.password.as_bytes(), &client.greeting.nonce.clone());
        let attributes = self.attribute_block();
        let mut payload = Vec::new();
        Login {
            capabilities,
            mariadb_extended: extended,
            max_packet: 1 << 30,
            collation: self.collation,
            user: self.user.as_bytes(),
            auth_response: &response,
            schema: self.schema.as_deref().map(str::as_bytes),
            auth_plugin: Some(&plugin),
            attributes: (!self.attributes.is_empty()).then_some(attributes.as_slice()),
            zstd_level: Some(3),
        }
        .write(&mut payload)
        .map_err(|error| Failure::Broken(error.to_string()))?;
        client.send(&payload)?;
        let nonce = client.greeting.nonce.clone();
        self.authenticate(client, nonce)?;
        if capabilities.contains(Capabilities::COMPRESS) {
            client.stream.compress(Algorithm::Zlib);
        } else if capabilities.contains(Capabilities::ZSTD_COMPRESSION_ALGORITHM) {
            client.stream.compress(Algorithm::Zstd);
        }
        Ok(())
    }

    /// COM_CHANGE_USER of a client to this account.
    pub(crate) fn change(&self, client: &mut Client) -> Result<(), Failure> {
        let mut payload = Vec::new();
        let plugin = client.greeting.plugin.clone();
        ChangeUser {
            user: self.user.as_bytes(),
            // As drivers do that do not know which nonce is meant: the server will ask.
            auth_response: &[],
            schema: self.schema.as_deref().map(str::as_bytes),
            collation: Some(self.collation),
            auth_plugin: Some(&plugin),
            attributes: None,
        }
        .write(&mut payload, client.capabilities)?;
        client.command(&payload);
        let nonce = client.greeting.nonce.clone();
        self.authenticate(client, nonce)
    }

    /// The turns after the login packet or COM_CHANGE_USER.
    pub(crate) fn authenticate(&self, client: &mut Client, mut nonce: Vec<u8>) -> Result<(), Failure> {
        loop {
            let packet = client.receive()?.payload;
            match AuthPacket::parse(&packet, client.capabilities)? {
                AuthPacket::Ok(ok) => {
                    client.status = ok.status;
                    client.first_ok = packet;
                    return Ok(());
                }
                AuthPacket::Err(error) => return Err(Failure::Refused(ServerError::of(&error))),
                AuthPacket::Switch { plugin, data } => {
                    client.path.push(format!("switch {}", String::from_utf8_lossy(plugin)));
                    nonce = data.to_vec();
                    let answer = answer(plugin, self.password.as_bytes(), &nonce);
                    client.send(&answer)?;
                }
                AuthPacket::More([caching_sha2::FAST_AUTH_OK]) => client.path.push("fast".to_owned()),
                AuthPacket::More([caching_sha2::FULL_AUTH]) => self.give_password(client, &nonce)?,
                AuthPacket::More(other) => {
                    return Err(Failure::Broken(format!("authentication data {other:x?}")));
                }
            }
        }
    }

    /// caching_sha2_password's full exchange.
    fn give_password(&self, client: &mut Client, nonce: &[u8]) -> Result<(), Failure> {
        let password = [self.password.as_bytes(), &[0]].concat();
        if client.stream.is_private() {
            client.path.push("clear".to_owned());
            return client.send(&password);
        }
        client.path.push("rsa".to_owned());
        client.send(&[caching_sha2::REQUEST_PUBLIC_KEY])?;
        let answer = client.receive()?.payload;
        let pem = answer.strip_prefix(&[1]).ok_or_else(|| Failure::Broken("no public key".to_owned()))?;
        let mixed: Vec<u8> =
            password.iter().zip(nonce.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
        let der = SubjectPublicKeyInfoDer::from_pem_slice(pem).expect("a public key in PEM");
        let key = PublicEncryptingKey::from_der(der.as_ref()).expect("an RSA key");
        let key = OaepPublicEncryptingKey::new(key).expect("a key of enough bits");
        let mut encrypted = vec![0; key.ciphertext_size()];
        key.encrypt(&OAEP_SHA1_MGF1SHA1, &mixed, &mut encrypted, None).expect("room for the password");
        client.send(&encrypted)
    }

    fn attribute_block(&self) -> Vec<u8> {
        let mut block = Vec::new();
        for text in self.attributes.iter().flat_map(|(name, value)| [name, value]) {
            block.push(u8::try_from(text.len()).unwrap());
            block.extend_from_slice(text.as_bytes());
        }
        block
    }
}

/// A plugin's answer to a nonce.
fn answer(plugin: &[u8], password: &[u8], nonce: &[u8]) -> Vec<u8> {
    match plugin {
        _ if password.is_empty() && plugin != b"client_ed25519" => Vec::new(),
        b"mysql_native_password" => native::scramble(&native::stage1(password), nonce).to_vec(),
        b"caching_sha2_password" => caching_sha2::scramble(&caching_sha2::stage1(password), nonce).to_vec(),
        b"client_ed25519" => ed25519::sign(&ed25519::secret_from_password(password), nonce).to_vec(),
        _ => b"this client does not know the plugin".to_vec(),
    }
}
