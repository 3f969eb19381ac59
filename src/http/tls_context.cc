#include "http/tls_context.h"

#include <openssl/ssl.h>

#include "base/format.h"

namespace pagoda::http {

namespace ssl = boost::asio::ssl;

Result<ssl::context> make_tls_context(const TlsFiles& files) {
  if (files.key_file.empty() || files.certificate_file.empty()) {
    return fail(ErrorCode::kInvalidArgument, "TLS needs both --ssl-keyfile and --ssl-certfile",
                files.key_file.empty() ? "--ssl-keyfile" : "--ssl-certfile");
  }
  ssl::context context(ssl::context::tls_server);
  ::SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  ::SSL_CTX_set_mode(context.native_handle(),
                     SSL_MODE_RELEASE_BUFFERS);  // an idle connection holds no buffers
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
  return context;
}

}  // namespace pagoda::http
