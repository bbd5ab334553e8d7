//! The papers' numbers that follow from arithmetic alone must stay reproduced.
#![allow(clippy::unwrap_used)]

use sago_sim::papers::{EXPERIMENTS, Runs};

#[test]
fn collective_ior_stays_at_one_target_and_groups_free_it() {
    let experiment = EXPERIMENTS.iter().find(|experiment| experiment.name == "parcoll-ior").unwrap();
    let all = experiment.run(&mut Runs::default()).unwrap();
    let ours = |what: &str| all.iter().find(|c| c.what.contains(what)).unwrap().ours;
    assert!((200e6..400e6).contains(&ours("collective write")));
    assert!(ours("gain") > 10.0);
    assert!(ours("Sago") > ours("ParColl"));
    assert!(all.iter().all(|c| !c.why.is_empty() && c.difference().is_none_or(f64::is_finite)));
}
