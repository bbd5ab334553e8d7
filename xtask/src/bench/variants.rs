//! How a pattern is run: natively in the ways that users have, through Sago in its modes, and as the limit.

use super::launch::Io;

/// Arguments, environment and connector options of one way to run a case.
#[derive(Clone, Debug)]
pub struct Variant {
    pub name: String,
    pub kind: Kind,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The program `posix`; no HDF5.
    Limit,
    Native,
    /// With these words after the connector's name.
    Sago(String),
}

/// The limit by which all are divided, and the same once more to see the noise.
pub const LIMIT: &str = "limit";
pub const LIMIT_AGAIN: &str = "limit again";
/// What a program does without anything set, and the best that hints can do for it.
pub const NATIVE: &str = "native collective";
pub const TUNED: &str = "native tuned";

/// Everything but the transfers, natively: what they cost is what a variant takes beyond it.
pub const REST: &str = "native, no data";

/// A connector mode: what it is called here, and the words that ask for it.
pub type Mode = (&'static str, &'static str);

/// All of Sago's modes. Those that the plugin refuses are left out.
pub const MODES: &[Mode] =
    &[("sago off", "mode=off"), ("sago immediate", "mode=immediate"), ("sago window", "mode=window")];

/// The connector as it is without options: measured only if it knows none of the modes.
pub const PLAIN: Mode = ("sago", "");

impl Variant {
    fn new(name: &str, kind: Kind, args: &str) -> Self {
        let args = args.split_whitespace().map(str::to_owned).collect();
        Self { name: name.to_owned(), kind, args, env: Vec::new() }
    }

    /// Whether it opens the file that the others open: then what it does beside the transfers is what [`REST`] does.
    pub fn shares_rest(&self) -> bool {
        self.kind != Kind::Limit && !self.args.iter().any(|arg| arg == "--per-process")
    }

    fn env(mut self, vars: &[(&str, &str)]) -> Self {
        self.env.extend(vars.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())));
        self
    }
}

/// The limit and the native ways that need no search.
pub fn fixed() -> Vec<Variant> {
    vec![
        Variant::new(LIMIT, Kind::Limit, ""),
        Variant::new(LIMIT_AGAIN, Kind::Limit, ""),
        Variant::new("limit, futex", Kind::Limit, "--wait futex"),
        Variant::new(REST, Kind::Native, "--no-data"),
        native(),
        Variant::new("native independent", Kind::Native, "--independent"),
        Variant::new("file per process", Kind::Native, "--per-process"),
    ]
}

pub fn native() -> Variant {
    Variant::new(NATIVE, Kind::Native, "")
}

/// A mode in both kinds of transfer.
pub fn sago((name, words): Mode) -> Vec<Variant> {
    let kind = || Kind::Sago(words.to_owned());
    vec![
        Variant::new(name, kind(), ""),
        Variant::new(&format!("{name}, independent"), kind(), "--independent"),
    ]
}

/// The settings that an expert would try, the defaults first; the best becomes [`TUNED`].
pub fn sweep(io: Io, ranks: usize, read: bool) -> Vec<Variant> {
    let way = if read { "read" } else { "write" };
    let spread = format!("--hint cb_nodes={ranks} --hint cb_config_list=*:*");
    let tuned = |args: String| Variant::new(TUNED, Kind::Native, &args);
    let no_sieving = format!("--hint romio_ds_{way}=disable");
    let mut all = vec![tuned(String::new())];
    match io {
        Io::Romio => all.extend([
            tuned(format!("{spread} --hint cb_buffer_size=1048576")),
            tuned(format!("{spread} --hint cb_buffer_size=4194304")),
            tuned(format!("{spread} --hint cb_buffer_size=16777216 {no_sieving}")),
            tuned(format!("--hint cb_nodes=1 --hint cb_buffer_size=4194304 {no_sieving}")),
            tuned(format!("--hint romio_cb_{way}=disable {no_sieving}")),
        ]),
        Io::Ompio => all.extend(["vulcan", "dynamic_gen2", "individual"].iter().flat_map(|fcoll| {
            let one = |args: &str| tuned(args.to_owned()).env(&[("OMPI_MCA_fcoll", fcoll)]);
            [one(&format!("{spread} --hint cb_buffer_size=4194304")), one("--hint cb_buffer_size=33554432")]
        })),
    }
    all
}

/// What a tuned variant sets, for the table.
pub fn describe(variant: &Variant) -> String {
    let env = variant.env.iter().map(|(k, v)| format!("{}={v}", k.trim_start_matches("OMPI_MCA_")));
    let hints = variant.args.iter().filter(|a| *a != "--hint").cloned();
    let words: Vec<String> = env.chain(hints).collect();
    if words.is_empty() { "the defaults".to_owned() } else { words.join(" ") }
}
