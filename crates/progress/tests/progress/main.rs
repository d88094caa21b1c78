//! Progress and temporal properties: the bundled models, small models with known answers, and the
//! engine against naive judges on random words and graphs.

mod formulas;
mod graphs;
mod models;
mod naive;
mod programs;
mod small;
mod support;
mod words;
