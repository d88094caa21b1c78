//! temp
mod atom; mod candidates; mod context; mod facts; mod footprint; mod nature; mod prefix; mod settle; mod solver; mod start; mod world;
