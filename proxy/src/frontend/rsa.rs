//! The key with which a client without TLS hides its password, as a server's `caching_sha2_password_public_key_path`.

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::rsa::{KeySize, OAEP_SHA1_MGF1SHA1, OaepPrivateDecryptingKey, PrivateDecryptingKey};
use pem::{EncodeConfig, LineEnding, Pem, encode_config};
use wire::auth::caching_sha2::unxor_password;
use zeroize::Zeroizing;

/// Why the proxy has no key pair. Only the random source of the system can be the cause.
#[derive(Debug, thiserror::Error)]
#[error("cannot make an RSA key pair: {0}")]
pub struct RsaError(&'static str);

/// A key pair made at start and never stored.
pub struct RsaKey {
    key: OaepPrivateDecryptingKey,
    pem: Vec<u8>,
}

impl RsaKey {
    /// Makes a pair of 2048 bits, as the servers do.
    ///
    /// # Errors
    /// When the system gives no randomness.
    pub fn generate() -> Result<Self, RsaError> {
        let pair =
            PrivateDecryptingKey::generate(KeySize::Rsa2048).map_err(|_| RsaError("generation failed"))?;
        let public: PublicKeyX509Der<'_> =
            pair.public_key().as_der().map_err(|_| RsaError("no public part"))?;
        let lines = EncodeConfig::new().set_line_ending(LineEnding::LF);
        let pem = encode_config(&Pem::new("PUBLIC KEY", public.as_ref()), lines).into_bytes();
        let key = OaepPrivateDecryptingKey::new(pair).map_err(|_| RsaError("the pair cannot decrypt"))?;
        Ok(Self { key, pem })
    }

    /// The public part, as clients expect it.
    pub fn public_pem(&self) -> &[u8] {
        &self.pem
    }

    /// The password that a client encrypted for this key after mixing it with the nonce; `None` for anything else.
    pub fn password(&self, encrypted: &[u8], nonce: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let mut out = Zeroizing::new(vec![0; self.key.min_output_size()]);
        let mixed = self.key.decrypt(&OAEP_SHA1_MGF1SHA1, encrypted, &mut out, None).ok()?;
        unxor_password(mixed, nonce)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aws_lc_rs::rsa::{OaepPublicEncryptingKey, PublicEncryptingKey};
    use rustls::pki_types::SubjectPublicKeyInfoDer;
    use rustls::pki_types::pem::PemObject;
    use wire::auth::caching_sha2::xor_password;

    #[test]
    fn what_a_client_encrypts_is_read_and_nothing_else() {
        let rsa = RsaKey::generate().unwrap();
        let der = SubjectPublicKeyInfoDer::from_pem_slice(rsa.public_pem()).unwrap();
        let key = OaepPublicEncryptingKey::new(PublicEncryptingKey::from_der(&der).unwrap()).unwrap();
        let nonce = b"01234567890123456789";
        let mut out = vec![0; key.ciphertext_size()];
        let hidden = xor_password(b"s3cret", nonce);
        let length = key.encrypt(&OAEP_SHA1_MGF1SHA1, &hidden, &mut out, None).unwrap().len();
        assert_eq!(rsa.password(&out[..length], nonce).unwrap().as_slice(), b"s3cret");
        out[5] ^= 1;
        assert!(rsa.password(&out, nonce).is_none());
        assert!(rsa.password(b"short", nonce).is_none());
    }
}
