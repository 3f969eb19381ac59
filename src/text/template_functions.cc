#include "text/template_functions.h"

#include <ctime>
#include <stdexcept>

#include "text/python_text.h"
#include "text/render_budget.h"

namespace pagoda::text {
namespace {

using jinja::func_args;
using jinja::mk_val;
using jinja::value;

value raise_exception(const func_args& args) {
  throw RaisedByTemplate{python_str(args.get_pos(0))};
}

value strftime_now(const func_args& args) {
  std::tm local{};
  if (localtime_r(&args.ctx.current_time, &local) == nullptr)
    throw std::runtime_error("strftime_now: no such time");
  char text[512];
  const std::string pattern = python_str(args.get_pos(0));
  const size_t length = std::strftime(text, sizeof text, pattern.c_str(), &local);
  return mk_val<jinja::value_string>(std::string(text, length));
}

int64_t integer(const func_args& args, size_t position) {
  const value argument = args.get_pos(position);
  if (!jinja::is_val<jinja::value_int>(argument)) throw std::runtime_error("range() takes integers");
  return argument->as_int();
}

value range(const func_args& args) {
  constexpr __int128 kMost = 100'000;
  if (args.count() < 1 || args.count() > 3) throw std::runtime_error("range() takes one to three integers");
  const int64_t start = args.count() == 1 ? 0 : integer(args, 0);
  const int64_t stop = integer(args, args.count() == 1 ? 0 : 1);
  const int64_t step = args.count() == 3 ? integer(args, 2) : 1;
  if (step == 0) throw std::runtime_error("range() arg 3 must not be zero");
  const __int128 distance =
      step > 0 ? static_cast<__int128>(stop) - start : static_cast<__int128>(start) - stop;
  const __int128 stride = step > 0 ? step : -static_cast<__int128>(step);
  const __int128 count = distance <= 0 ? 0 : (distance + stride - 1) / stride;
  if (count > kMost) throw std::runtime_error("range() too big: at most 100000 numbers");
  auto numbers = mk_val<jinja::value_array>();
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) {
    numbers->push_back(mk_val<jinja::value_int>(start + i * step));
  }
  return numbers;
}

}  // namespace

void define_functions(jinja::context& context) {
  const auto define = [&](const char* name, value (*function)(const func_args&)) {
    context.set_val(name, mk_val<jinja::value_func>(name, function));
  };
  define("raise_exception", &raise_exception);
  define("strftime_now", &strftime_now);
  define("range", &range);
}

}  // namespace pagoda::text
