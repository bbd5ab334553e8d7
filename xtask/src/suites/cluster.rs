//! Suite `cluster`: commits on four nodes in two racks, with slow links between the racks (`tests/cluster`), on MPICH and
//! Open MPI. Placing aggregators by cost must move fewer bytes between the racks than placing them in rank order, and a
//! link that is cut and comes back must be survived. Needs root.

use super::exec::{host, library};
use super::{Context, Log, On, Suite};
use crate::proc::{Done, Run};
use crate::world::{Hdf5, Mpi};
use crate::{mpi, place};
use anyhow::{Context as _, Result, ensure};
use std::path::PathBuf;
use std::time::Duration;

pub struct Cluster;

const LIMIT: Duration = Duration::from_secs(200);
const NAME: &str = "sagotest";
const MACHINE: &str = "machine={tree shape=((2)(2)) link=50MB/s,6.25MB/s}";

impl Suite for Cluster {
    fn name(&self) -> &'static str {
        "cluster"
    }

    fn about(&self) -> &'static str {
        "commits between four nodes in two racks, made of namespaces: right, placed by topology, and through a cut link"
    }

    fn on_request(&self) -> bool {
        true
    }

    fn run(&self, context: &Context, log: &mut Log) -> Result<()> {
        // SAFETY: a plain question to the kernel.
        if unsafe { libc::geteuid() } != 0 {
            log.skip(&On::nothing(), "all", "only root can make namespaces");
            return Ok(());
        }
        let library = library("ranks", true)?;
        let _up = Up::new()?;
        for family in [Mpi::Mpich, Mpi::OpenMpi] {
            let nodes = Nodes { family, host: host(family, &context.scratch)?, library: library.clone() };
            let on = On { mpi: Some(family), ..On::default() };
            log.case(&on, "random patterns, 8 ranks", nodes.ok("random", &["last=12"]));
            log.case(&on, "random patterns by messages", nodes.ok("random", &["last=6", "messages"]));
            log.case(&on, "failing storage", nodes.ok("faults", &["last=8"]));
            log.case(&on, "aggregators placed by cost and in rank order", nodes.placements(log));
            log.case(&on, "a link that is cut and comes back", nodes.cut_link());
            for hdf5 in context.world.hdf5.iter().filter(|h| h.mpi == family && h.release() >= (2, 0)) {
                let on = On::hdf5(hdf5);
                let through = |hint: &str| through(context, hdf5, hint);
                log.case(&on, "an HDF5 program through the connector", through("sago_exchange=aggregate"));
                // It is left to HDF5 before anything has been captured.
                let small = "sago_machine=flat nodes=2 link=1GB/s ranks_per_node=4";
                log.case(&on, "a machine that is smaller than it is", through(small));
            }
        }
        Ok(())
    }
}

fn tool(name: &str) -> Run {
    Run::new(place::root().join("tests/cluster/bin").join(name)).env("TB_NAME", NAME)
}

/// The cluster, for as long as this lives.
struct Up;

impl Up {
    fn new() -> Result<Self> {
        let _ = tool("cluster-down").arg("-q").run();
        let args = ["-n", "4", "-r", "2", "-b", "400mbit", "-u", "50mbit"];
        tool("cluster-up").args(args).limit(Duration::from_secs(60)).ok()?;
        Ok(Self)
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = tool("cluster-down").arg("-q").run();
    }
}

struct Nodes {
    family: Mpi,
    host: PathBuf,
    library: PathBuf,
}

impl Nodes {
    fn launch(&self, test: &str, args: &[&str]) -> Run {
        tool("cluster-run")
            .arg(self.family.to_string())
            .args(["-ppn", "2", "-n", "8"])
            .arg(&self.host)
            .arg(&self.library)
            .args([test, "/mnt/pfs/file"])
            .args(args)
            .limit(LIMIT)
    }

    fn ok(&self, test: &str, args: &[&str]) -> Result<()> {
        right(&self.launch(test, args).run()?)
    }

    /// The same commits with both placements, in turn; the cheaper one must send fewer bytes from rack to rack.
    fn placements(&self, log: &Log) -> Result<()> {
        let mut bytes = Vec::new();
        for placement in ["cost", "rank-order"] {
            let (mut between, mut seconds) = (Vec::new(), Vec::new());
            for _ in 0..2 {
                let before = between_racks()?;
                let options = format!(
                    "options={MACHINE} placement={placement} exchange=aggregate aggregators=4 buffer=1MiB"
                );
                let done = self.launch("placed", &[&options, "blocks=512", "steps=3"]).run()?;
                right(&done)?;
                between.push(between_racks()? - before);
                seconds.push(field(&done, "seconds")?);
            }
            let (least, fastest) = (
                between.iter().copied().min().unwrap_or(0),
                seconds.iter().copied().fold(f64::INFINITY, f64::min),
            );
            log.note(format!(
                "{}: placement={placement}: {:.2} MB between racks, {fastest:.2} s for 50 MB (best of 2)",
                self.family,
                least as f64 / 1e6
            ));
            bytes.push(least);
        }
        ensure!(bytes[0] * 2 < bytes[1], "{bytes:?} bytes between racks");
        Ok(())
    }

    /// The second rack is unplugged for two seconds in the middle of commits.
    fn cut_link(&self) -> Result<()> {
        let cut = std::thread::spawn(|| -> Result<()> {
            std::thread::sleep(Duration::from_secs(4));
            tool("cluster-fault").args(["down", "r1"]).ok()?;
            std::thread::sleep(Duration::from_secs(2));
            tool("cluster-fault").args(["up", "r1"]).ok().map(|_| ())
        });
        let options =
            format!("options={MACHINE} placement=rank-order exchange=aggregate aggregators=4 buffer=1MiB");
        let done = self.launch("placed", &[&options, "blocks=512", "steps=8"]).run();
        cut.join().map_err(|_| anyhow::anyhow!("the thread that cuts"))??;
        let done = done?;
        right(&done)?;
        ensure!(field(&done, "seconds")? > 6.0, "it was over before the link was cut: {}", done.explain());
        Ok(())
    }
}

/// A program that writes interleaved columns and reads them back, to its very end: MPI may not find windows of ours when it
/// is finalised.
fn through(context: &Context, hdf5: &Hdf5, hint: &str) -> Result<()> {
    let program = mpi::program(hdf5, &context.scratch, &place::root().join("tests/options/hints.c"))?;
    let connector = context.connector("cluster")?;
    let mut run = tool("cluster-run").arg(hdf5.mpi.to_string()).args(["-ppn", "2", "-n", "8"]);
    for (name, value) in connector.env() {
        run = match hdf5.mpi {
            Mpi::Mpich => run.args(["-genv", name, &value]),
            Mpi::OpenMpi => run.args(["-x", &format!("{name}={value}")]),
        };
    }
    let done = run.arg(program).args(["/mnt/pfs/h5", hint]).limit(LIMIT).run()?;
    ensure!(done.success() && done.stdout.lines().any(|line| line == "done"), "{}", done.explain());
    connector.assert_active(8)?;
    Ok(())
}

fn right(done: &Done) -> Result<()> {
    let ok = done.success() && done.stdout.lines().any(|line| line.starts_with("ok "));
    ensure!(ok, "{}", done.explain());
    Ok(())
}

/// The number after a word of the output.
fn field(done: &Done, name: &str) -> Result<f64> {
    let mut words = done.stdout.split_whitespace();
    words.find(|word| *word == name).with_context(|| done.explain())?;
    Ok(words.next().context("a number")?.parse()?)
}

/// Bytes that have gone through the first rack's uplink so far, in both directions.
fn between_racks() -> Result<u64> {
    let mut sum = 0;
    for name in ["rx_bytes", "tx_bytes"] {
        let file = format!("/sys/class/net/uplink/statistics/{name}");
        let rack = format!("{NAME}-r0");
        let text = Run::new("ip").args(["netns", "exec", &rack, "cat", &file]).text()?;
        sum += text.trim().parse::<u64>().with_context(|| text.clone())?;
    }
    Ok(sum)
}
