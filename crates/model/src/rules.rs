//! The rules, each of which can be left out.
//!
//! The product does not follow `every_past_is_to_be_proven` yet; what comes of it, `left_out` shows. Nor does a primary reign
//! there before it has told its position, but it is asked before anything runs on it (`session::decide`).

/// Which rules are followed. Each names the function of the product that it mirrors, or whose input or answer it changes
/// when it is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// A read joins the next probe, not the one under way (`cluster::group::Group::gather`).
    pub(crate) joins_the_next_probe: bool,
    /// The primary's bound is what it commits and what it has committed, not the latter alone (`cluster::sample`).
    pub(crate) probes_what_is_owned: bool,
    /// What ran while the primary was asked counts only if the node had applied what it tells (`route::had_applied`).
    pub(crate) holds_replies_back: bool,
    /// A probe counts only if the answering server says that it takes writes (`cluster::ask::Line::sample`).
    pub(crate) probes_who_takes_writes: bool,
    /// LOW is what a server has executed, not what stands in its log (`cluster::sample`).
    pub(crate) low_is_executed: bool,
    /// HIGH is what a server may show, not what it has executed (`cluster::entry::Entry::observe`).
    pub(crate) high_is_owned: bool,
    /// HIGH speaks of a result only if it was asked for after it (`route::freshness::shown_by`).
    pub(crate) high_is_younger_than_the_result: bool,
    /// The primary is a node like any other (`route::freshness::on_primary`, `Cluster::primary_shows`).
    pub(crate) primary_shows_first: bool,
    /// A write that was told of is needed from then on (`route::Needs::wrote`).
    pub(crate) notes_writes: bool,
    /// So is one that may have happened (`route::Needs::lost_track`).
    pub(crate) notes_untold_writes: bool,
    /// What was seen is needed from then on (`route::Needs::saw`).
    pub(crate) notes_results: bool,
    /// A result that no level watched over counts as well (`route::Needs::saw`, `checked`).
    pub(crate) notes_unchecked_results: bool,
    /// A position dies with the life of its node (`cluster::entry::Entry::new_life`).
    pub(crate) positions_die: bool,
    /// Under another primary, or in another life of it, a session asks what still holds (`route::Needs::under`).
    pub(crate) asks_another_primary: bool,
    /// An answer counts as that of the primary that gave it, which may be another one than was to be asked
    /// (`session::decide::learn`).
    pub(crate) answers_tell_who_gives_them: bool,
    /// A session has a past also when nobody was known to be primary while it came about (`route::Needs::under`).
    pub(crate) every_past_is_to_be_proven: bool,
    /// A primary, and a new life of it, counts from when it is known, not only from when it has told its position
    /// (`cluster::snapshot::Snapshot::reign`).
    pub(crate) reigns_before_it_has_told: bool,
    /// What does not hold any more the session is told (`session::decide::learn`).
    pub(crate) tells_what_is_lost: bool,
    /// In a new epoch each replica is compared with the new primary (`cluster::board::Board::begin_epoch`, `purity`).
    pub(crate) compares_in_a_new_epoch: bool,
    /// The sample that tells a position tells the role as well: nobody takes a promoted replica for a replica, or a
    /// demoted primary for one, when it has already seen something of the time after the change
    /// (`cluster::board::Board::sampled`, `discover::role`).
    pub(crate) samples_tell_the_role: bool,
    /// Whichever replica in rotation comes first ends a wait (`session::decide::wait`, `Cluster::applied`).
    pub(crate) waits_for_any: bool,
    /// Without a replica in rotation nobody waits (`route::on_any`).
    pub(crate) primary_without_replicas: bool,
    /// What was written and seen survives a reset (`session::reset::begin_anew`).
    pub(crate) survives_a_reset: bool,
    /// A position that is given away covers what was seen, too (`session::answer::position_token`).
    pub(crate) tokens_tell_what_was_seen: bool,
    /// A position that the primary is not known to have is asked for before it is waited for (`route::Needs::raise`).
    pub(crate) proves_tokens: bool,
    /// A proxy listens to the reply of every write, also of one that began before anybody read at the level global
    /// (`session::herald`).
    pub(crate) heralds_listen_from_the_first: bool,
    /// A proxy notes a write before its client hears of it (`session::herald`).
    pub(crate) heralds_come_first: bool,
    /// What was asked and awaited in one epoch means nothing in the next (`session::decide`).
    pub(crate) forgets_answers_of_old_epochs: bool,
    /// A read goes to the primary that was asked what it shows, not to its predecessor (`session::decide`).
    pub(crate) routes_again_after_a_change: bool,
    /// Whoever still applies its predecessor's log is no primary yet (`cluster::discover`).
    pub(crate) primary_has_applied_all: bool,
    /// Also a replica without a log of its own is compared by who wrote what (`cluster::purity`).
    pub(crate) compares_by_server: bool,
}

impl Rules {
    /// All of them.
    pub(crate) const ALL: Self = Self {
        joins_the_next_probe: true,
        probes_what_is_owned: true,
        holds_replies_back: true,
        probes_who_takes_writes: true,
        low_is_executed: true,
        high_is_owned: true,
        high_is_younger_than_the_result: true,
        primary_shows_first: true,
        notes_writes: true,
        notes_untold_writes: true,
        notes_results: true,
        notes_unchecked_results: true,
        positions_die: true,
        asks_another_primary: true,
        answers_tell_who_gives_them: true,
        every_past_is_to_be_proven: true,
        reigns_before_it_has_told: true,
        tells_what_is_lost: true,
        compares_in_a_new_epoch: true,
        samples_tell_the_role: true,
        waits_for_any: true,
        primary_without_replicas: true,
        survives_a_reset: true,
        tokens_tell_what_was_seen: true,
        proves_tokens: true,
        heralds_listen_from_the_first: true,
        heralds_come_first: true,
        forgets_answers_of_old_epochs: true,
        routes_again_after_a_change: true,
        primary_has_applied_all: true,
        compares_by_server: true,
    };
}
