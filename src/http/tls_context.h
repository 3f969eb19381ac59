// The server's key and certificate.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include "base/result.h"
#include "http/server.h"

namespace pagoda::http {

// TLS 1.2 and later. kInvalidArgument: a file that cannot be read, is no PEM, or a key that is not the
// certificate's.
Result<boost::asio::ssl::context> make_tls_context(const TlsFiles& files);

}  // namespace pagoda::http
