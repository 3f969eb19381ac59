// The bodies of Asio and of Beast's HTTP parser, compiled once: see third_party_http.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
