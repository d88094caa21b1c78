//! Layout: what is moved, what stays, and that nothing is lost.

use super::format;
use expect_test::{Expect, expect};

fn check(source: &str, expected: Expect) {
    let laid_out = format(source).expect("the source parses");
    expected.assert_eq(&laid_out);
    assert_eq!(format(&laid_out).as_ref(), Ok(&laid_out), "laying out twice");
}

#[test]
fn spaces() {
    check(
        "op  f ( a:int ,b : int? )->( int,bool )  requires a<b{\n\
         let x=-1 ;let y = - x+a [ 0 ]*( b-1 );\nx+=1;y -= -1;\n\
         if!x==y&&! ( a>=b )||c { }else{ }\n\
         a . next .val=new Node{val:1,next:null};\n\
         m=Mark{dead:true , ..m};\nfor i in 0 ..=3{ }\ncas ( [a,b],[ 1,2 ] , [c,d] );\n\
         #[ lin( when x==1 ) ]#[lin]f( ) ;\nlet(a,_)=g();return(a,b);\nlet z=[0 ;4];let w=if a{1}else{2};\n}",
        expect![[r#"
            op f(a: int, b: int?) -> (int, bool) requires a < b {
                let x = -1; let y = -x + a[0] * (b - 1);
                x += 1; y -= -1;
                if !x == y && !(a >= b) || c {} else {}
                a.next.val = new Node { val: 1, next: null };
                m = Mark { dead: true, ..m };
                for i in 0..=3 {}
                cas([a, b], [1, 2], [c, d]);
                #[lin(when x == 1)] #[lin] f();
                let (a, _) = g(); return (a, b);
                let z = [0; 4]; let w = if a { 1 } else { 2 };
            }
        "#]],
    );
}

#[test]
fn types_and_comparisons() {
    check(
        "spec {\nstate a : map < int , seq<int> > = [];\nstate set:set<int>;\nop f(seq:int)->bool {\n\
         if set.len()<3&&seq<seq { return set<seq; }\nreturn seq>set; } }",
        expect![[r#"
            spec {
                state a: map<int, seq<int>> = [];
                state set: set<int>;
                op f(seq: int) -> bool {
                    if set.len() < 3 && seq < seq { return set < seq; }
                    return seq > set; } }
        "#]],
    );
}

#[test]
fn names_of_specifications() {
    check(
        "spec  priority - queue ( -1 ) ;\nop f() { return a - b; }",
        expect![[r#"
            spec priority-queue(-1);
            op f() { return a - b; }
        "#]],
    );
}

#[test]
fn indentation() {
    check(
        "op f() {\nloop {\nif a {\nb();\n} else if c {\nd();\n}\nelse {\ne();\n}\n}\n}\n\
         fn g(a: int,\nb: int\n) {\nlet x = a\n+ b\n+ c;\ncas(\na,\nb,\nc\n);\n\
         let y = new Node {\nval: 1,\nnext: null,\n};\n#[base(\na == b\n&& c\n)]\nreturn;\n}",
        expect![[r#"
            op f() {
                loop {
                    if a {
                        b();
                    } else if c {
                        d();
                    }
                    else {
                        e();
                    }
                }
            }
            fn g(a: int,
                b: int
            ) {
                let x = a
                    + b
                    + c;
                cas(
                    a,
                    b,
                    c
                );
                let y = new Node {
                    val: 1,
                    next: null,
                };
                #[base(
                    a == b
                    && c
                )]
                return;
            }
        "#]],
    );
}

#[test]
fn blank_lines() {
    check(
        "\n\n\nspec a;\n\n\n\nshared b: int;\nop f() {\n\n\na();\n\n\nb();\n\n}\n\n\n",
        expect![[r#"
            spec a;

            shared b: int;
            op f() {
                a();

                b();
            }
        "#]],
    );
}

#[test]
fn comments_are_kept_everywhere() {
    check(
        "//! title   \n//!   more\n// before\nspec a; // after\n//\nstruct Node { // open\n// first\nval: int, // val\n\
         // last\n} // close\nop f( // params\na: int // a\n// b\n) // body\n{ // start\n// lonely\nx = // equals\n1 // one\n\
         ; // end\nif a // if\n{ } // then\nelse // else\n{ }\n#[lin] // point\nf(); return; // last }\n// very last\n}\n// end",
        expect![[r#"
            //! title
            //!   more
            // before
            spec a; // after
            //
            struct Node { // open
                // first
                val: int, // val
                // last
            } // close
            op f( // params
                a: int // a
                // b
            ) // body
            { // start
                // lonely
                x = // equals
                    1 // one
                    ; // end
                if a // if
                {} // then
                else // else
                {}
                #[lin] // point
                f(); return; // last }
                // very last
            }
            // end
        "#]],
    );
}

#[test]
fn comments_keep_their_distance() {
    check(
        "op f() {\na();      // one\nlonger();  // two\nb();// three\n}",
        expect![[r#"
            op f() {
                a();      // one
                longer();  // two
                b(); // three
            }
        "#]],
    );
}

#[test]
fn every_end_of_line_becomes_one() {
    check(
        "\u{feff}// a\r\nop f() {\r\n\tb();\t// c \r\n}\r\n",
        expect![[r#"
            // a
            op f() {
                b(); // c
            }
        "#]],
    );
}

#[test]
fn nothing_is_nothing() {
    check("", expect![[""]]);
    check(" \n\n", expect![[""]]);
    check(
        "// only",
        expect![[r#"
            // only
        "#]],
    );
}

#[test]
fn what_does_not_parse_is_left_alone() {
    assert!(format("op f( {").is_err());
}

#[test]
fn comments_of_several_lines() {
    check(
        "/* one   \n   two */ op f( /* a */a:int ){\n/* three */return;/* four */}\n/*five*/",
        expect![[r#"
            /* one
               two */ op f( /* a */ a: int) {
                /* three */ return; /* four */ }
            /*five*/
        "#]],
    );
}

#[test]
fn references() {
    check(
        "reference{\nshared top:Node=null ;\n\n\ninit{top=null;}\n  op push(v:int){let x=new Node{val:v};\nx.next=top;top=x;}\n\
         // the newest first\nop pop()->int?{return none;}}\n",
        expect![[r#"
            reference {
                shared top: Node = null;

                init { top = null; }
                op push(v: int) { let x = new Node { val: v };
                    x.next = top; top = x; }
                // the newest first
                op pop() -> int? { return none; } }
        "#]],
    );
}

#[test]
fn persistent_memory() {
    check(
        "#[ line( a ) ]persistent  shared x:int;\npersistent struct Node{#[line(b)]next:Node,val:int}\n\
         recover{flush( x );fence ;\npersist(x) ;}\nrecover( t:tid )->int?{return none;}",
        expect![[r#"
            #[line(a)] persistent shared x: int;
            persistent struct Node { #[line(b)] next: Node, val: int }
            recover { flush(x); fence;
                persist(x); }
            recover(t: tid) -> int? { return none; }
        "#]],
    );
}
