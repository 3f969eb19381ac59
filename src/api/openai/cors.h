// Cross-origin requests, answered as Starlette's CORSMiddleware does: browsers' pages of other origins may
// call the API where --allowed-origins lets them.
#pragma once

#include "api/openai/middleware.h"
#include "http/message.h"

namespace pagoda::api {

// OPTIONS with an Origin and the method that will follow.
bool is_preflight(const http::Request& request);
// 200, or 400 naming what is not allowed.
http::Response preflight_response(const MiddlewareOptions& options, const http::Request& request);
// What a simple response needs; nothing when the request has no Origin. Leaves preflights alone.
void add_cors_headers(const MiddlewareOptions& options, const http::Request& request, http::Headers& headers);

}  // namespace pagoda::api
