// The nodes that guarded_program.cc puts around expressions of a template's tree. Each takes the node that it
// stands for and keeps its place in the source.
#pragma once

#include <jinja/runtime.h>

namespace pagoda::text {

// {{ x }}: writes x as Python's str().
jinja::statement_ptr make_output(jinja::statement_ptr inner);
// identifier, where it is read.
jinja::statement_ptr make_variable(jinja::statement_ptr identifier);
// Counts a step and the text that comes out.
jinja::statement_ptr make_counted(jinja::statement_ptr inner);
// binary_expression: operands are computed once; what * and ~ make is bounded before it is made.
jinja::statement_ptr make_operation(jinja::statement_ptr binary);
// filter_expression: tojson, string, safe, escape, default and length as in Python; the others counted.
jinja::statement_ptr make_filter(jinja::statement_ptr filter);
// test_expression: no division by zero.
jinja::statement_ptr make_test(jinja::statement_ptr test);
// member_expression: texts are indexed by characters; no method that changes its object, as in jinja2's
// sandbox.
jinja::statement_ptr make_member(jinja::statement_ptr member);
// The value of {% set … %}: not too deep, and where it is stored in what `container` yields (else nullptr),
// not containing that. `container` outlives the node.
jinja::statement_ptr make_stored(jinja::statement_ptr value, const jinja::statement* container);

}  // namespace pagoda::text
