//! Section 5 of "A Constructive Approach for Proving Data Structures' Linearizability" (Lev-Ari,
//! Chockler, Keidar, 2015): its claims about the lazy list, checked now.
