//! What a proxy keeps of a session, and the product's own changes of it.

use std::time::{Duration, Instant};

use gtid::Position;
use tidemark::cluster::snapshot::{self, NodeId};
use tidemark::route;

use super::decisions::{Decisions, LIFE, LIFE_BEFORE};
use super::state::Bound;
use super::writes::Set;

/// `route::Needs`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Needs {
    pub(crate) written: Set,
    pub(crate) bound: Set,
    pub(crate) seen: Option<Seen>,
    pub(crate) unknown: bool,
    pub(crate) unproven: bool,
    pub(crate) reign: Option<Reign>,
}

/// `cluster::snapshot::Reign`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Reign {
    pub(crate) epoch: u8,
    pub(crate) life: u8,
}

/// `route::Seen::On`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Seen {
    pub(crate) node: u8,
    /// Whether the proxy believes that node to be in the same life still.
    pub(crate) alive: bool,
    /// The node's HIGH just after the result; the oldest that may bound it.
    pub(crate) high: Set,
}

impl Reign {
    /// Before anybody was known to be primary.
    pub(crate) const NOBODYS: Self = Self { epoch: 0, life: 0 };
}

impl Decisions {
    /// A write was acknowledged: `Needs::wrote`.
    pub(crate) fn wrote(&mut self, needs: &mut Needs, told: Set) {
        let position = Position::clone(&self.position(told));
        self.change(needs, |product, _| product.wrote(position, true));
    }

    /// A result came from this node, whose HIGH was this: `Needs::saw`.
    pub(crate) fn saw(&mut self, needs: &mut Needs, node: u8, high: Set, checked: bool) {
        self.change(needs, |product, until| product.saw(NodeId(node), LIFE, until, checked));
        needs.seen = Some(Seen { node, alive: true, high });
    }

    /// What a session needs of a replica: `Needs::position`.
    pub(crate) fn position_of(&mut self, needs: &Needs) -> Set {
        let position = self.needs(needs, false).position();
        self.numbers.set(&position)
    }

    /// A session set a position: `Needs::raise`.
    pub(crate) fn raise(&mut self, needs: &mut Needs, position: Set, proven: bool) {
        let position = self.position(position);
        self.change(needs, |product, _| product.raise(&position, proven));
    }

    /// The primary answered: `Needs::learnt`.
    pub(crate) fn learnt(&mut self, needs: &mut Needs, bound: Bound) {
        let bound = self.bound(bound);
        self.change(needs, |product, _| product.learnt(&bound));
    }

    /// A statement is routed under this primary: `Needs::under`.
    pub(crate) fn under(&mut self, needs: &mut Needs, reign: Reign) {
        if needs.reign != Some(reign) {
            self.change(needs, |product, _| product.under(reign.into()));
            needs.reign = Some(reign);
        }
    }

    /// A write may have happened and was not told: `Needs::lost_track`.
    pub(crate) fn lost_track(&mut self, needs: &mut Needs) {
        self.change(needs, |product, _| product.lost_track());
    }

    fn change(&mut self, needs: &mut Needs, change: impl FnOnce(&mut route::Needs, Instant)) {
        let mut product = self.needs(needs, false);
        change(&mut product, self.until);
        needs.written = self.numbers.set(&product.written);
        needs.bound = self.numbers.set(&product.bound);
        (needs.unknown, needs.unproven) = (product.unknown, product.unproven);
        if product.seen == route::Seen::Covered {
            needs.seen = None;
        }
    }

    /// The product's value. `anchored`: the session has read on one node for long.
    pub(crate) fn needs(&mut self, needs: &Needs, anchored: bool) -> route::Needs {
        let mut product = route::Needs::default();
        if let Some(reign) = needs.reign {
            product.under(reign.into());
        }
        if let Some(seen) = needs.seen {
            let life = if seen.alive { LIFE } else { LIFE_BEFORE };
            let since = if anchored { self.until - Duration::from_secs(1) } else { self.until };
            product.saw(NodeId(seen.node), life, since, true);
            product.saw(NodeId(seen.node), life, self.until, true);
        }
        product.written = Position::clone(&self.position(needs.written));
        product.bound = Position::clone(&self.position(needs.bound));
        (product.unknown, product.unproven) = (needs.unknown, needs.unproven);
        product
    }
}

impl From<Reign> for snapshot::Reign {
    fn from(reign: Reign) -> Self {
        Self { epoch: reign.epoch.into(), incarnation: reign.life.into() }
    }
}
