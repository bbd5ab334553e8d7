//! Random jobs.

use sago_core::config::Config;
use sago_core::cost::Calibration;
use sago_core::declare::{Declaration, Declared, Direction, Outline, Summary};
use sago_core::extent::Run;
use sago_core::ids::Rank;
use sago_core::pattern::AccessPattern;
use sago_core::plan::{Job, Plan, PlanError, StorageFacts, plan};
use sago_core::random::Random;
use sago_core::topology::Machine;

/// All that a plan is made of.
pub struct TestJob {
    pub machine: Machine,
    pub config: Config,
    pub declared: Vec<Declared>,
    /// Each rank's runs as they were declared, one after the other.
    pub as_declared: Vec<Vec<Run>>,
    pub calibration: Calibration,
}

impl TestJob {
    pub fn new(machine: &str, pattern: &str, options: &str) -> Self {
        Self::in_direction(machine, pattern, options, Direction::Write)
    }

    pub fn in_direction(machine: &str, pattern: &str, options: &str, direction: Direction) -> Self {
        let machine: Machine = machine.parse().unwrap();
        let pattern: AccessPattern = pattern.parse().unwrap();
        let ranks = machine.ranks();
        let declare = |rank| pattern.declare(Rank(rank), ranks, direction).unwrap();
        let declared = (0..ranks).map(declare).collect();
        Self {
            machine,
            config: Config::parse(options).unwrap(),
            declared,
            as_declared: Vec::new(),
            calibration: Calibration::default(),
        }
    }

    pub fn job(&self) -> Job<'_> {
        let (storage, calibration) = (StorageFacts::default(), self.calibration);
        Job { machine: &self.machine, config: &self.config, storage, calibration }
    }

    pub fn summaries(&self) -> Vec<Summary> {
        self.declared.iter().map(Declared::summary).collect()
    }

    pub fn plan(&self) -> Result<Plan, PlanError> {
        plan(&self.job(), &self.summaries(), |rank| Outline::of(&self.declared[rank.index()]))
    }
}

/// A small job of any kind: sparse, dense, strided, overlapping, empty ranks, far apart.
pub fn random_job(random: &mut Random, direction: Direction) -> TestJob {
    let machine = random_machine(random);
    let ranks = machine.ranks();
    let shape = Shape::any(random);
    let (declared, as_declared) =
        (0..ranks).map(|rank| shape.declare(random, rank, ranks, direction)).unzip();
    let config = random_config(random, &machine);
    let mut calibration = Calibration::default();
    if random.one_in(3) {
        calibration.request_s = 1e-9;
    }
    TestJob { machine, config, declared, as_declared, calibration }
}

fn random_machine(random: &mut Random) -> Machine {
    let kinds = [
        "flat nodes=1 link=1GB/s",
        "flat nodes=3 link=1GB/s",
        "tree shape=((2)(2)) link=50MB/s,6.25MB/s",
        "torus dims=2x3 link=1GB/s pset=3 bridges=0,1",
        "torus dims=3x2x2 link=1GB/s pset=6 bridges=1,4",
        "dragonfly groups=2 routers=1x2 nodes=2 local=2GB/s global=1GB/s gateways=1",
        "fattree leaves=2 nodes=3 spines=2 link=1GB/s",
    ];
    let kind = kinds[random.below(kinds.len() as u64) as usize];
    let map = ["block", "cyclic"][random.below(2) as usize];
    format!("{kind} ranks_per_node={} map={map}", 1 + random.below(3)).parse().unwrap()
}

fn random_config(random: &mut Random, machine: &Machine) -> Config {
    let mut options =
        vec![format!("buffer={}B", 1 + random.below(300)), format!("stripe={}B", 1 + random.below(300))];
    let mut maybe = |random: &mut Random, text: String| {
        if random.one_in(2) {
            options.push(text);
        }
    };
    let aggregators = 1 + random.below(2 * u64::from(machine.ranks()));
    maybe(random, format!("aggregators={aggregators}"));
    let groups = 1 + random.below(5);
    maybe(random, format!("groups={groups}"));
    let least = 1 + random.below(4);
    maybe(random, format!("group_ranks_min={least}"));
    let node = random.below(u64::from(machine.nodes()));
    maybe(random, format!("aggregator_nodes=0,{node}"));
    let placements = ["cost", "rank-order", "bridge-first", "one-per-node", "shortest-path", "random:5"];
    let placement = placements[random.below(6) as usize];
    maybe(random, format!("placement={placement}"));
    let bridges = matches!(machine.io(), sago_core::topology::IoSide::Psets { .. });
    let exchanges = ["aggregate", "aggregate", "direct", "auto", if bridges { "bridge" } else { "auto" }];
    let exchange = exchanges[random.below(5) as usize];
    options.push(format!("exchange={exchange}"));
    Config::parse(&options.join(" ")).unwrap()
}

/// How a job's ranks lay out their data.
struct Shape {
    scale: u64,
    variables: u64,
    runs: u64,
    file: u64,
    own_range: bool,
    far: bool,
    /// Ranks one after the other, each with a few runs in a range of its own.
    serial: bool,
}

impl Shape {
    fn any(random: &mut Random) -> Self {
        Self {
            scale: [1, 1, 7, 3000, 70_000][random.below(5) as usize],
            variables: 1 + random.below(4),
            runs: 1 + random.below(4),
            file: 40 + random.below(400),
            own_range: random.one_in(2),
            far: random.one_in(6),
            serial: random.one_in(3),
        }
    }

    fn declare(
        &self,
        random: &mut Random,
        rank: u32,
        ranks: u32,
        direction: Direction,
    ) -> (Declared, Vec<Run>) {
        let mut declaration = Declaration::new(direction);
        let variables = self.variables(random, u64::from(rank), u64::from(ranks));
        for runs in &variables {
            declaration.variable(runs.iter().copied());
        }
        (declaration.finish(), variables.concat())
    }

    fn variables(&self, random: &mut Random, rank: u64, ranks: u64) -> Vec<Vec<Run>> {
        if random.one_in(6) {
            return Vec::new();
        }
        if self.serial {
            let base = rank * self.file;
            let (from, len) = (random.below(20), self.file - 20 - random.below(20));
            let run = if random.one_in(3) { Run::strided(base + from, 2, 5, len / 5) } else { None };
            return vec![vec![run.unwrap_or(Run::contiguous(base + from, len))]];
        }
        let variable = |random: &mut Random, variable: u64| {
            let base = match (self.own_range, self.far && random.one_in(2)) {
                (_, true) => (1 << 63) - 40_000_000,
                (true, _) => (variable * ranks + rank) * self.file * self.scale,
                _ => 0,
            };
            let mut runs = Vec::new();
            for _ in 0..random.below(self.runs + 1) {
                let len = 1 + random.below(20);
                let stride = len + random.below(20) * self.scale;
                let offset = base + random.below(self.file) * self.scale;
                runs.extend(Run::strided(offset, len, stride, 1 + random.below(12)));
            }
            runs
        };
        (0..self.variables).map(|number| variable(random, number)).collect()
    }
}
