use super::*;

fn sample(scale: Scale) -> Plot {
    Plot {
        title: "solve < step & more".into(),
        x: Axis::new("contacts", scale),
        y: Axis::new("time (ms)", scale),
        series: vec![
            Series::new("cone", [[4.0, 0.02], [8.0, 0.04], [16.0, f64::NAN], [36.0, 0.2]]),
            Series::new("pyramid", [[4.0, 0.1], [0.0, 0.0], [36.0, 80.0], [f64::INFINITY, 1.0]]),
            Series::new("nothing", []),
        ],
    }
}

/// Whether every element is closed in the order in which it was opened, and attributes are quoted.
fn check_well_formed(document: &str) {
    let mut open = Vec::new();
    let mut rest = document;
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "{}", &rest[..start]);
        let end = start + rest[start..].find('>').expect("an end of the tag");
        let tag = &rest[start + 1..end];
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        let name = |tag: &str| tag.split([' ', '/']).next().unwrap_or("").to_string();
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(closed));
        } else if !tag.ends_with('/') {
            open.push(name(tag));
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn documents_are_well_formed_and_name_everything() {
    for scale in [Scale::Linear, Scale::Log] {
        let document = svg(&[sample(scale), sample(scale)]);
        check_well_formed(&document);
        for words in ["solve &lt; step &amp; more", "contacts", "time (ms)", "cone", "pyramid", "nothing"] {
            assert_eq!(document.matches(&format!(">{words}</text>")).count(), 2, "{words}");
        }
        assert!(!document.contains("NaN") && !document.contains("inf"), "{document}");
        // A curve and a line of the legend for each series.
        assert_eq!(document.matches("<polyline").count(), 2 * 2 * 3);
    }
}

#[test]
fn plots_of_a_page_take_their_colours_from_it() {
    let mut plot = sample(Scale::Log);
    plot.title = "a \"quoted\" title".into();
    plot.series[1].style = Style::Line;
    plot.series[2].style = Style::Marks;
    let element = plot.inline();
    check_well_formed(&element);
    assert!(element.contains("aria-label=\"a &quot;quoted&quot; title\""), "{element}");
    assert!(element.contains("var(--c1)") && !element.contains('#') && !element.contains("http"), "{element}");
    // Two curves and their lines in the legend; the third is only marks, of which one is in the legend.
    assert_eq!(element.matches("<polyline").count(), 4);
    assert_eq!(element.matches("<circle").count(), 3 + 1 + 1);
}

#[test]
fn bars_are_as_long_as_their_parts() {
    let bar = |name: &str, parts: [f64; 2]| Bar { name: name.into(), parts: parts.into(), end: "ms".into() };
    let bars = Bars {
        title: "steps".into(),
        axis: Axis::new("time (ms)", Scale::Linear),
        parts: vec!["free".into(), "solve <all>".into()],
        bars: vec![bar("ball & hand", [1.0, 3.0]), bar("rest", [0.0, 0.0])],
    };
    let element = bars.inline();
    check_well_formed(&element);
    assert!(element.contains("ball &amp; hand") && element.contains("solve &lt;all&gt;"));
    let data = element.split("<g class=\"data\">").nth(1).and_then(|d| d.split("</g>").next()).expect("the bars");
    let width = |rect: &str| -> f64 {
        rect.split(" width=\"").nth(1).and_then(|w| w.split('"').next()).expect("a width").parse().expect("a number")
    };
    let widths: Vec<f64> = data.lines().filter(|l| l.starts_with("<rect")).map(width).collect();
    assert_eq!(widths.len(), 4);
    assert!((widths[1] - 3.0 * widths[0]).abs() < 0.05 && widths[2..] == [0.0, 0.0], "{widths:?}");
}

#[test]
fn points_stay_inside_the_frame() {
    for scale in [Scale::Linear, Scale::Log] {
        let axis = Axis::new("x", scale);
        let span = axis.spanning([0.37, 4.2, 91.0].into_iter(), [100.0, 200.0]);
        for x in [0.37, 4.2, 91.0] {
            assert!((100.0..=200.0).contains(&span.place(x)), "{x}");
        }
        let ticks = span.ticks();
        assert!(ticks.len() >= 3 && ticks.iter().all(|(at, _)| (99.9..=200.1).contains(at)), "{ticks:?}");
    }
}

#[test]
fn ticks_are_round_numbers() {
    let labels = |scale, numbers: &[f64]| -> Vec<String> {
        let axis = Axis::new("x", scale);
        axis.spanning(numbers.iter().copied(), [0.0, 1.0]).ticks().into_iter().map(|(_, label)| label).collect()
    };
    assert_eq!(labels(Scale::Linear, &[3.0, 9.5]), ["0", "2", "4", "6", "8", "10"]);
    assert_eq!(labels(Scale::Linear, &[-0.1, 0.3]), ["-0.1", "0", "0.1", "0.2", "0.3"]);
    assert_eq!(labels(Scale::Log, &[0.25, 16.0]), ["0.2", "0.5", "1", "2", "5", "10", "20"]);
    assert_eq!(labels(Scale::Log, &[1e-4, 1.0]), ["1e-4", "0.001", "0.01", "0.1", "1"]);
    assert!(labels(Scale::Linear, &[0.0, 0.0]).len() > 1 && !labels(Scale::Log, &[]).is_empty());
}
