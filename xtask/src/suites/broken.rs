//! Suite `broken`: the other suites must notice a broken plugin. A suite that passes with a plugin that loses data, or
//! with none at all, proves nothing.

use super::{Context, Log, On, Outcome, Suite, Verdict, suites};
use crate::stage;
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::Path;

pub struct Broken;

/// The suites that compare the connector with native HDF5.
const DIFFERENTIAL: [&str; 3] = ["conform", "differ", "python"];

impl Suite for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn about(&self) -> &'static str {
        "a plugin that loses writes, and no plugin at all, make the comparing suites fail"
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        let sabotaged = context.scratch.join("sabotaged/lib");
        stage::install(&stage::build(&["sabotage"])?, &sabotaged)?;
        let nothing = context.scratch.join("nothing/lib");
        fs::create_dir_all(&nothing)?;
        for name in DIFFERENTIAL {
            // Without this control a suite that always fails would look watchful.
            log.case(&On::nothing(), format!("{name} passes with the true plugin"), passes(context, name));
            log.case(
                &On::nothing(),
                format!("{name} notices that writes are lost"),
                fails(context, name, &sabotaged),
            );
            log.case(
                &On::nothing(),
                format!("{name} notices that no plugin is there"),
                fails(context, name, &nothing),
            );
        }
        Ok(())
    }
}

fn passes(context: &Context, name: &str) -> Result<()> {
    let outcomes = brief(context, name, &context.plugins)?;
    let failure = outcomes.iter().find_map(|o| match &o.verdict {
        Verdict::Fail(detail) => Some(format!("{}: {detail}", o.case)),
        _ => None,
    });
    ensure!(failure.is_none(), "{}", failure.unwrap_or_default());
    ensure!(outcomes.iter().any(|o| matches!(o.verdict, Verdict::Pass)), "nothing ran");
    Ok(())
}

fn fails(context: &Context, name: &str, plugins: &Path) -> Result<()> {
    let outcomes = brief(context, name, plugins)?;
    let failed = outcomes.iter().filter(|o| matches!(o.verdict, Verdict::Fail(_))).count();
    ensure!(failed > 0, "all {} cases passed", outcomes.len());
    Ok(())
}

/// The first cases of a suite, with another plugin.
fn brief(context: &Context, name: &str, plugins: &Path) -> Result<Vec<Outcome>> {
    let all = suites();
    let suite = all.iter().find(|s| s.name() == name).with_context(|| format!("there is no suite {name}"))?;
    let mut log = Log::quiet(suite.name());
    let nested = context.nested(name, plugins)?;
    if let Err(e) = suite.run(&nested, &mut log) {
        log.case(&On::nothing(), "the suite itself", Err(e));
    }
    Ok(log.outcomes)
}
