//! SHOW: of schema objects it is a read like any other, of a server's state it is the primary's, of the last
//! statement's warnings it belongs to the connection that ran it.

use crate::effects::Effects;
use crate::kind::Kind;
use crate::lexer::Lexer;
use crate::reason::Reason;
use crate::scan::Scan;
use crate::schema;
use crate::statement::One;
use crate::target::Target;
use crate::token::Tok;
use crate::words::{self, Kw, Role, Schema};

enum About {
    Objects,
    Previous,
    Server,
}

/// Classifies what follows SHOW.
pub(crate) fn classify(lexer: &mut Lexer<'_>) -> One {
    match about(lexer) {
        About::Objects => objects(lexer),
        About::Previous => {
            lexer.skip_statement();
            One {
                target: Target::Previous,
                reason: Reason::PreviousResult,
                kind: Kind::Show,
                effects: Effects::LOOKS_BACK,
            }
        }
        About::Server => {
            lexer.skip_statement();
            One::primary(Reason::ServerState, Kind::Show, Effects::NONE)
        }
    }
}

/// Takes the words that say what is shown.
fn about(lexer: &mut Lexer<'_>) -> About {
    while matches!(lexer.peek_keyword(), Kw::Full | Kw::Extended) {
        lexer.next();
    }
    let word = lexer.next();
    let is_objects = match lexer.keyword(word) {
        Kw::Tables | Kw::Columns | Kw::Fields | Kw::Index | Kw::Indexes | Kw::Keys => true,
        Kw::Databases | Kw::Schemas | Kw::Triggers | Kw::Events | Kw::Collation | Kw::Charset => true,
        Kw::Character | Kw::Char => lexer.take(Kw::Set),
        Kw::Table | Kw::Procedure | Kw::Function_ => lexer.take(Kw::Status),
        Kw::Package => {
            lexer.take(Kw::Body);
            lexer.take(Kw::Status)
        }
        Kw::Create => {
            let what = lexer.next();
            matches!(
                lexer.keyword(what),
                Kw::Table
                    | Kw::View
                    | Kw::Database
                    | Kw::Schema_
                    | Kw::Procedure
                    | Kw::Function_
                    | Kw::Trigger
                    | Kw::Event
                    | Kw::Sequence
                    | Kw::Package
            )
        }
        Kw::Warnings | Kw::Errors => return About::Previous,
        Kw::Count => return About::Previous,
        _ => false,
    };
    if is_objects { About::Objects } else { About::Server }
}

/// The rest may name a system schema, and may have an expression in WHERE or LIKE.
pub(crate) fn objects(lexer: &mut Lexer<'_>) -> One {
    let of_server = names_server_schema(*lexer);
    let mut scan = Scan::new(lexer);
    if of_server {
        scan.primary(Reason::SystemSchema);
    }
    scan.run();
    let reason = if scan.target == Target::Replica { Reason::MetadataRead } else { scan.reason };
    let unknown = if scan.reason == Reason::Unknown { Effects::UNKNOWN } else { Effects::NONE };
    One { target: scan.target, reason, kind: Kind::Show, effects: scan.effects | unknown }
}

/// FROM mysql, IN sys
fn names_server_schema(mut lexer: Lexer<'_>) -> bool {
    let mut last = Kw::None;
    loop {
        let token = lexer.next();
        let kw = lexer.keyword(token);
        let role = match token.kind {
            Tok::Semicolon | Tok::End => return false,
            Tok::Word => words::lookup(token.bytes(lexer.sql)).role,
            Tok::Quoted => schema::role_of_quoted(token.bytes(lexer.sql)),
            _ => Role::Plain,
        };
        if matches!(last, Kw::From | Kw::In) && role == Role::Schema(Schema::Server) {
            return true;
        }
        last = kw;
    }
}
