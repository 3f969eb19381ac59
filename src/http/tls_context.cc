#include "http/tls_context.h"

#include <openssl/ssl.h>

#include "base/format.h"

namespace pagoda::http {

namespace ssl = boost::asio::ssl;

namespace {

Status check_clients(ssl::context& context, const TlsFiles& files) {
  using enum TlsFiles::ClientCertificate;
  if (files.client_certificate == kNone) return {};
  if (files.client_ca_file.empty()) {
    return fail(ErrorCode::kInvalidArgument,
                "to ask clients for certificates (--ssl-cert-reqs) needs --ssl-ca-certs", "--ssl-ca-certs");
  }
  boost::system::error_code error;
  context.load_verify_file(files.client_ca_file, error);
  if (error) {
    return fail(ErrorCode::kInvalidArgument,
                format("{}: cannot be read as PEM certificates: {}", files.client_ca_file, error.message()),
                "--ssl-ca-certs");
  }
  static constexpr unsigned char kSessionContext[] =
      "pagoda";  // resumed sessions keep the client's certificate
  ::SSL_CTX_set_session_id_context(context.native_handle(), kSessionContext, sizeof kSessionContext - 1);
  ::SSL_CTX_set_client_CA_list(context.native_handle(),
                               ::SSL_load_client_CA_file(files.client_ca_file.c_str()));
  context.set_verify_mode(files.client_certificate == kRequired
                              ? ssl::verify_peer | ssl::verify_fail_if_no_peer_cert
                              : ssl::verify_peer);
  return {};
}

}  // namespace

Result<ssl::context> make_tls_context(const TlsFiles& files) {
  if (files.key_file.empty() || files.certificate_file.empty()) {
    return fail(ErrorCode::kInvalidArgument, "TLS needs both --ssl-keyfile and --ssl-certfile",
                files.key_file.empty() ? "--ssl-keyfile" : "--ssl-certfile");
  }
  ssl::context context(ssl::context::tls_server);
  ::SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  ::SSL_CTX_set_mode(context.native_handle(),
                     SSL_MODE_RELEASE_BUFFERS);  // an idle connection holds no buffers
  // A key behind a passphrase is an error, not a prompt on the terminal of a service.
  context.set_password_callback([](size_t, ssl::context::password_purpose) { return std::string(); });
  boost::system::error_code error;
  context.use_certificate_chain_file(files.certificate_file, error);
  if (error) {
    return fail(
        ErrorCode::kInvalidArgument,
        format("{}: cannot be read as a PEM certificate: {}", files.certificate_file, error.message()),
        "--ssl-certfile");
  }
  context.use_private_key_file(files.key_file, ssl::context::pem, error);
  if (error) {
    return fail(ErrorCode::kInvalidArgument,
                format("{}: cannot be used as the PEM key of {}: {}", files.key_file, files.certificate_file,
                       error.message()),
                "--ssl-keyfile");
  }
  PAGODA_TRY(check_clients(context, files));
  return context;
}

}  // namespace pagoda::http
