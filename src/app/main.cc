#include <span>

#include "app/subcommands.h"

int main(int argc, char** argv) {
  return pagoda::app::dispatch({argv, static_cast<size_t>(argc)});
}
