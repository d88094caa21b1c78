//! Crashes: durable objects pass, those that forget to write something back are found, and what is
//! said about both.

mod register;
