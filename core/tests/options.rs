//! Every option from every place, and what is refused where.
#![allow(clippy::unwrap_used)]

use sago_core::config::{FileText, HINTS, Layers, LoadError, OPTIONS, STACK, Source, Surroundings};

fn around(site: &str, user: &str, variables: &[(&str, &str)]) -> Surroundings {
    let file = |path: &str, text: &str| Some(FileText { path: path.into(), text: Ok(text.into()) });
    Surroundings {
        site: file("/etc/sago/config.toml", site),
        user: file("/home/u/.config/sago/config.toml", user),
        variables: variables.iter().map(|&(k, v)| (k.to_owned(), v.to_owned())).collect(),
    }
}

fn load(site: &str, user: &str, variables: &[(&str, &str)], connector: &str) -> Result<Layers, LoadError> {
    Layers::load(&around(site, user, variables), connector)
}

fn refused(site: &str, user: &str, variables: &[(&str, &str)], connector: &str) -> String {
    load(site, user, variables, connector).unwrap_err().to_string()
}

/// The value of an option's example, without the braces that only the connector's text needs.
fn example(spec: &sago_core::config::OptionSpec) -> (&'static str, &'static str) {
    let (name, value) = spec.example.split_once('=').unwrap();
    (name, value.strip_prefix('{').and_then(|v| v.strip_suffix('}')).unwrap_or(value))
}

#[test]
fn each_option_works_from_each_place() {
    for spec in OPTIONS.iter().filter(|spec| !STACK.contains(&spec.name)) {
        let (name, value) = example(spec);
        let wanted = load("", "", &[], spec.example).unwrap();
        let file = format!("{name} = '{value}'");
        let variable = format!("SAGO_{}", name.to_uppercase());
        let places = [
            (load(&file, "", &[], ""), "site file /etc/sago/config.toml"),
            (load("", &file, &[], ""), "user file /home/u/.config/sago/config.toml"),
            (load("", "", &[(&variable, value)], ""), &*format!("environment {variable}")),
            (load("", "", &[], spec.example), "connector"),
        ];
        for (layers, origin) in places {
            let layers = layers.unwrap();
            assert_eq!(layers.config(), wanted.config(), "{name} from the {origin}");
            assert_eq!(layers.origin(name).to_string(), origin, "{name}");
        }
        let mut layers = Layers::new();
        let hint = format!("sago_{name}");
        assert_eq!(layers.hints([(hint.as_str(), value)]), []);
        assert_eq!(layers.config(), wanted.config(), "{name} as a hint");
        assert_eq!(layers.origin(name).to_string(), format!("MPI_Info {hint}"));
    }
}

#[test]
fn later_places_outrank_earlier_ones() {
    let site = "buffer = '1MiB'\ngroups = 1\nstripe = '1MiB'\ntargets = 1\naggregators = 1";
    let user = "buffer = '2MiB'\ngroups = 2\nstripe = '2MiB'\ntargets = 2";
    let variables = [("SAGO_BUFFER", "4MiB"), ("SAGO_GROUPS", "4")];
    let mut layers = load(site, user, &variables, "buffer=5MiB").unwrap();
    layers.hints([("striping_unit", "3145728"), ("sago_groups", "3"), ("cb_buffer_size", "3")]);
    let seen: Vec<String> = ["buffer", "groups", "stripe", "targets", "aggregators"]
        .map(|name| format!("{name} {:?}", layers.origin(name).source))
        .to_vec();
    assert_eq!(
        seen,
        ["buffer Connector", "groups Environment", "stripe Hint", "targets User", "aggregators Site"]
    );
    let config = layers.config();
    assert_eq!((config.buffer_bytes, config.stripe_bytes), (Some(5 << 20), Some(3 << 20)));
    assert_eq!((config.groups, config.targets, config.aggregators), (Some(4), Some(2), Some(1)));
}

#[test]
fn files_are_toml() {
    let text =
        "# for everybody\nbuffer = \"16MiB\"   # the stripe\ngroups = 1_0\naggregator_nodes = [0, 2, 3]\n";
    let config = load(text, "", &[], "").unwrap().config().clone();
    assert_eq!((config.buffer_bytes, config.groups), (Some(16 << 20), Some(10)));
    assert_eq!(config.aggregator_nodes, [0, 2, 3]);
    let unknown = refused("buffer = '1MiB'\nbufer = '1MiB'", "", &[], "");
    assert!(unknown.starts_with(
        "in line 2 of the file /etc/sago/config.toml: unknown option `bufer`; did you mean `buffer`?"
    ));
    assert!(
        refused("", "buffer = 'much'", &[], "").contains("option `buffer` cannot be `much`: it takes a size")
    );
    assert!(refused("", "buffer = 1.5", &[], "").contains("`buffer` is not a text, a number or a list"));
    assert!(refused("", "[buffer]\nsize = 1", &[], "").contains("`buffer` is not a text"));
    assert!(
        refused("buffer = ", "", &[], "").starts_with("in the file /etc/sago/config.toml: TOML parse error")
    );
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let mut around = around("", "", &[]);
    around.user = Some(FileText { path: "/x".into(), text: Err("permission denied".into()) });
    assert_eq!(Layers::load(&around, "").unwrap_err().to_string(), "in the file /x: permission denied");
}

#[test]
fn variables_are_options_with_a_prefix() {
    let sentence = refused("", "", &[("SAGO_BUFER", "1MiB")], "");
    assert!(
        sentence.starts_with("in the variable SAGO_BUFER: unknown option `bufer`; did you mean `buffer`?")
    );
    assert!(
        refused("", "", &[("SAGO_GROUPS", "some")], "").starts_with("in the variable SAGO_GROUPS: option")
    );
    let others = [("SAGO_CACHE", "/c"), ("SAGO_CONFIG", "/f"), ("SAGONA", "x"), ("SAGO", "on")];
    assert_eq!(load("", "", &others, "").unwrap(), Layers::new());
}

#[test]
fn the_switch_outranks_everything() {
    let layers =
        load("nonsense", "", &[("SAGO", "off"), ("SAGO_X", "1")], "mode=immediate under_vol=3").unwrap();
    assert_eq!(layers.config().mode.to_string(), "off");
    assert_eq!(layers.origin("mode").which, "SAGO=off");
    assert_eq!(layers.origin("under_vol").source, Source::Connector);
    assert_eq!(
        refused("", "", &[("SAGO", "perhaps")], ""),
        "in the variable SAGO: it is `on` or `off`, not `perhaps`"
    );
}

#[test]
fn hints_of_others_are_left_alone_and_ours_complain() {
    let mut layers = Layers::new();
    let complaints = layers.hints([
        ("romio_cb_write", "enable"),
        ("cb_nodes", "4"),
        ("cb_buffer_size", "16777216"),
        ("striping_factor", "8"),
        ("cb_config_list", "*:*"),
        ("sago_bufer", "1"),
        ("striping_unit", "-1"),
    ]);
    let complaints: Vec<String> = complaints.iter().map(ToString::to_string).collect();
    assert_eq!(complaints.len(), 2, "{complaints:?}");
    assert!(complaints[0].starts_with("in the MPI_Info hint sago_bufer: unknown option `bufer`"));
    assert!(complaints[1].starts_with("in the MPI_Info hint striping_unit: option `stripe` cannot be `-1`"));
    let config = layers.config();
    assert_eq!((config.aggregators, config.buffer_bytes, config.targets), (Some(4), Some(16 << 20), Some(8)));
    assert!(HINTS.iter().all(|(_, option)| OPTIONS.iter().any(|spec| spec.name == *option)));
    assert_eq!(layers.hints([("cb_config_list", "node7:2")]).len(), 1);
}

#[test]
fn the_connector_below_is_named_where_the_stack_is() {
    assert!(load("", "", &[], "under_vol=3 under_info={a=b}").is_ok());
    let sentence = "`under_vol` can only stand after the connector's name";
    assert!(refused("", "", &[("SAGO_UNDER_VOL", "sago")], "").ends_with(sentence));
    assert!(refused("under_vol = 'sago'", "", &[], "").ends_with(sentence));
    assert_eq!(Layers::new().hints([("sago_under_vol", "sago")]).len(), 1);
}

#[test]
fn the_connectors_text_is_named() {
    assert!(refused("", "", &[], "bufer=1").starts_with("in the options after `sago` (HDF5_VOL_CONNECTOR"));
}
