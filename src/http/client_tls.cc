#include "http/client_tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "base/format.h"

namespace pagoda::http {
namespace {

// Where the distributions keep the authorities that they trust: OpenSSL's own default is the place of the
// system that it was built on.
constexpr const char* kSystemAuthorities[] = {
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Arch
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Red Hat
    "/etc/pki/tls/certs/ca-bundle.crt",                   // older Red Hat
    "/etc/ssl/ca-bundle.pem",                             // SUSE
    "/etc/ssl/cert.pem",                                  // Alpine
};

// OpenSSL's own socket BIO uses write(2), which raises SIGPIPE.
int socket_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<intptr_t>(::BIO_get_data(bio)));
}

int write_socket(BIO* bio, const char* bytes, int size) {
  ::BIO_clear_retry_flags(bio);
  const ssize_t sent = ::send(socket_of(bio), bytes, static_cast<size_t>(size), MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR)) ::BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int read_socket(BIO* bio, char* bytes, int size) {
  ::BIO_clear_retry_flags(bio);
  const ssize_t got = ::recv(socket_of(bio), bytes, static_cast<size_t>(size), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) ::BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long control_socket(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO_METHOD* socket_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
    ::BIO_meth_set_write(made, write_socket);
    ::BIO_meth_set_read(made, read_socket);
    ::BIO_meth_set_ctrl(made, control_socket);
    return made;
  }();
  return method;
}

std::string last_tls_error() {
  char text[256] = "unknown error";
  if (const unsigned long code = ::ERR_get_error()) ::ERR_error_string_n(code, text, sizeof text);
  ::ERR_clear_error();
  return text;
}

Status trust_authorities(SSL_CTX* context, const std::string& ca_file) {
  if (!ca_file.empty()) {
    if (::SSL_CTX_load_verify_locations(context, ca_file.c_str(), nullptr) == 1) return {};
    return fail(ErrorCode::kInvalidArgument,
                format("{}: cannot be read as PEM certificates: {}", ca_file, last_tls_error()));
  }
  if (const char* named = std::getenv("SSL_CERT_FILE"); named && ::access(named, R_OK) == 0) {
    ::SSL_CTX_load_verify_locations(context, named, nullptr);
    return {};
  }
  for (const char* bundle : kSystemAuthorities) {
    if (::access(bundle, R_OK) != 0) continue;
    ::SSL_CTX_load_verify_locations(context, bundle, nullptr);
    return {};
  }
  ::SSL_CTX_set_default_verify_paths(context);
  return {};
}

}  // namespace

Result<std::unique_ptr<ClientTls>> ClientTls::create(int fd, const std::string& host,
                                                     const ClientOptions& options) {
  ::ERR_clear_error();
  SSL_CTX* context = ::SSL_CTX_new(::TLS_client_method());
  if (!context) return fail(ErrorCode::kInternal, "cannot set up TLS: " + last_tls_error());
  std::unique_ptr<ClientTls> tls(new ClientTls(context, host));
  ::SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  if (options.verify_certificate) {
    PAGODA_TRY(trust_authorities(context, options.ca_file));
    ::SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  }
  tls->ssl_ = ::SSL_new(context);
  BIO* bio = ::BIO_new(socket_method());
  if (!tls->ssl_ || !bio) return fail(ErrorCode::kInternal, "cannot set up TLS: " + last_tls_error());
  ::BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  ::BIO_set_init(bio, 1);
  ::SSL_set_bio(tls->ssl_, bio, bio);
  ::SSL_set_mode(tls->ssl_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  in6_addr address;
  if (::inet_pton(AF_INET, host.c_str(), &address) == 1 ||
      ::inet_pton(AF_INET6, host.c_str(), &address) == 1) {
    ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(tls->ssl_), host.c_str());
  } else {
    ::SSL_set_tlsext_host_name(tls->ssl_, host.c_str());
    ::SSL_set1_host(tls->ssl_, host.c_str());
  }
  ::SSL_set_connect_state(tls->ssl_);
  return tls;
}

ClientTls::~ClientTls() {
  ::SSL_free(ssl_);
  ::SSL_CTX_free(context_);
}

Result<ClientTls::Step> ClientTls::step(int returned) const {
  if (returned > 0) return Step{0, static_cast<size_t>(returned)};
  switch (::SSL_get_error(ssl_, returned)) {
    case SSL_ERROR_WANT_READ:
      return Step{POLLIN, 0};
    case SSL_ERROR_WANT_WRITE:
      return Step{POLLOUT, 0};
    case SSL_ERROR_ZERO_RETURN:
      return Step{0, 0};
    default:
      break;
  }
  if (const long verified = ::SSL_get_verify_result(ssl_); verified != X509_V_OK) {
    ::ERR_clear_error();
    return fail(ErrorCode::kInvalidArgument, format("the certificate of {} is not trusted: {}", host_,
                                                    ::X509_verify_cert_error_string(verified)));
  }
  const unsigned long code = ::ERR_peek_error();
  if (code == 0 || ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    ::ERR_clear_error();
    return fail(ErrorCode::kUnavailable, format("{} closed the TLS connection", host_));
  }
  if (ERR_GET_REASON(code) == SSL_R_WRONG_VERSION_NUMBER) {
    ::ERR_clear_error();
    return fail(ErrorCode::kUnavailable, format("{} does not speak TLS on this port: use http://", host_));
  }
  return fail(ErrorCode::kUnavailable, format("TLS with {} failed: {}", host_, last_tls_error()));
}

Result<ClientTls::Step> ClientTls::handshake() {
  return step(::SSL_do_handshake(ssl_));
}

Result<ClientTls::Step> ClientTls::read(char* bytes, size_t size) {
  return step(::SSL_read(ssl_, bytes, static_cast<int>(size)));
}

Result<ClientTls::Step> ClientTls::write(std::string_view bytes) {
  constexpr size_t kMaxPiece = size_t{1} << 20;
  return step(::SSL_write(ssl_, bytes.data(), static_cast<int>(std::min(bytes.size(), kMaxPiece))));
}

}  // namespace pagoda::http
