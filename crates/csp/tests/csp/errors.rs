//! Mistakes are shown with the file, the line, a caret and a hint, several at once.

use expect_test::{Expect, expect};
use linchpin_csp::parse;

fn check(source: &str, expected: Expect) {
    let mistakes = parse(source, &[]).expect_err("this should be refused");
    let shown: Vec<String> =
        mistakes.iter().map(|mistake| mistake.render("m.csp", source, false)).collect();
    expected.assert_eq(&format!("{}\n", shown.join("\n\n")));
}

#[test]
fn names_that_mean_nothing() {
    check(
        "var count = 0;\nP(i) = a.cuont -> Q(i);\nR = P(1, 2) \\ {b};\n",
        expect![[r#"
            error[L010]: there is no name `cuont`
             --> m.csp:2:10
              |
            2 | P(i) = a.cuont -> Q(i);
              |          ^^^^^ unknown
              |
              = help: did you mean `count`?

            error[L010]: there is no process `Q`
             --> m.csp:2:19
              |
            2 | P(i) = a.cuont -> Q(i);
              |                   ^ unknown
              |
              = help: did you mean `P`?

            error[L015]: `P` has 1 parameter, not 2
             --> m.csp:3:5
              |
            2 | P(i) = a.cuont -> Q(i);
              | - declared so
            3 | R = P(1, 2) \ {b};
              |     ^^^^^^^ called so

            error[L010]: there is no event `b`
             --> m.csp:3:16
              |
            3 | R = P(1, 2) \ {b};
              |                ^ unknown
        "#]],
    );
}

#[test]
fn types_that_do_not_fit() {
    check(
        "var flag = false;\nvar x[2];\nP = a{flag = 1; x = 2;} -> if (x[0]) { Stop } else { Skip };\nQ = a.1 -> Stop;\n",
        expect![[r#"
            error[L020]: expected a boolean, found an integer
             --> m.csp:3:14
              |
            3 | P = a{flag = 1; x = 2;} -> if (x[0]) { Stop } else { Skip };
              |              ^ an integer
              |
              = help: write a comparison, such as `x == 1`

            error[L030]: `x` is an array
             --> m.csp:3:17
              |
            3 | P = a{flag = 1; x = 2;} -> if (x[0]) { Stop } else { Skip };
              |                 ^ declared otherwise
              |
              = help: name an element: `x[0]`

            error[L020]: expected a boolean, found an integer
             --> m.csp:3:32
              |
            3 | P = a{flag = 1; x = 2;} -> if (x[0]) { Stop } else { Skip };
              |                                ^^^^ an integer
              |
              = help: write a comparison, such as `x == 1`

            error[L201]: `a` carries an integer here
             --> m.csp:4:5
              |
            3 | P = a{flag = 1; x = 2;} -> if (x[0]) { Stop } else { Skip };
              |     - no data here
            4 | Q = a.1 -> Stop;
              |     ^ not as before
              |
              = help: an event carries the same data everywhere, or it is another event
        "#]],
    );
}

#[test]
fn writing() {
    check(
        "P = a -> if (x = 1) { Stop };\nQ = a -> ;\nvar 3;\nassert P;\nR = a | b;\n",
        expect![[r#"
            error[L001]: expected `)`, found `=`
             --> m.csp:1:16
              |
            1 | P = a -> if (x = 1) { Stop };
              |                ^ expected `)`
              |
              = help: compare with `==`

            error[L001]: expected a process, found `;`
             --> m.csp:2:10
              |
            2 | Q = a -> ;
              |          ^ expected a process

            error[L001]: expected the name of a variable, found `3`
             --> m.csp:3:5
              |
            3 | var 3;
              |     ^ expected the name of a variable

            error[L001]: expected `refines` or `deadlockfree`, found `;`
             --> m.csp:4:9
              |
            4 | assert P;
              |         ^ expected `refines` or `deadlockfree`

            error[L001]: expected `;`, found `|`
             --> m.csp:5:6
              |
            5 | R = a | b;
              |      ^ expected `;`
              |
              = help: there is no internal choice: write `(tau -> P) [] (tau -> Q)`
        "#]],
    );
}

#[test]
fn sizes() {
    check(
        "const K = 2;\nvar x[K - 2];\nvar y[2] = [1, 0(5)];\nvar z:{3..1};\nconst K = 1 / 0;\n",
        expect![[r#"
            error[L012]: `K` is declared twice
             --> m.csp:5:7
              |
            1 | const K = 2;
              |       - first here
            ...
            5 | const K = 1 / 0;
              |       ^ again

            error[L034]: division by zero
             --> m.csp:5:11
              |
            5 | const K = 1 / 0;
              |           ^^^^^ no value

            error[L037]: an array cannot have -1 elements
             --> m.csp:2:7
              |
            2 | var x[K - 2];
              |       ^^^^^ 1 to 4096 elements are possible

            error[L202]: `y` has 2 elements but 6 initial values
             --> m.csp:3:12
              |
            3 | var y[2] = [1, 0(5)];
              |            ^^^^^^^^^ not as many
              |
              = help: `v(n)` in the list stands for n times `v`

            error[L200]: the range 3..1 is empty
             --> m.csp:4:8
              |
            4 | var z:{3..1};
              |        ^^^^ empty

            error[L200]: `z` starts with 3, outside its range 3..1
             --> m.csp:4:5
              |
            4 | var z:{3..1};
              |     ^ outside its range
        "#]],
    );
}

/// What all three languages say in the same words; `.lin` and `.subop` have the same test.
#[test]
fn every_language_says_the_same() {
    let messages = |source: &str| -> Vec<String> {
        let mistakes = parse(source, &[]).err().unwrap_or_default();
        mistakes.into_iter().map(|mistake| mistake.message).collect()
    };
    let assigned =
        |value: &str| messages(&format!("var x; var y[2]; P = a{{x = {value};}} -> Stop;"));
    assert_eq!(messages("P = a -> Stop; /* Q = b -> Stop;"), ["this comment does not end"]);
    assert_eq!(messages("P = a -> /* Stop;"), ["this comment does not end"]);
    assert_eq!(messages("/* a */ P = a -> Stop; /* b\n* / */"), [""; 0]);
    assert_eq!(assigned("\"text"), ["expected an expression, found `\"`"]);
    assert_eq!(assigned("$"), ["expected an expression, found `$`"]);
    assert_eq!(assigned("\0"), ["expected an expression, found `\\0`"]);
    assert_eq!(assigned("\u{202e}"), ["expected an expression, found `\\u{202e}`"]);
    assert_eq!(assigned("\u{1b}"), ["expected an expression, found `\\u{1b}`"]);
    let largest = "numbers go up to 9223372036854775807";
    assert_eq!(assigned("18446744073709551615"), [largest]);
    assert_eq!(assigned("y[18446744073709551615]"), [largest]);
    assert_eq!(assigned("0x10"), ["`0x10` is not written in decimal digits"]);
    assert_eq!(messages(&"a ".repeat(5 << 20)), ["this file is longer than 256 KiB"]);
    assert_eq!(messages(&"\0".repeat(10 << 20)), ["this file is longer than 256 KiB"]);
    assert_eq!(messages(&"P = ;\n".repeat(100)).len(), 50);
}
