// Fields that would change the answer and are not in this build: refused by name, never ignored.
#pragma once

#include "api/openai/field_reader.h"

namespace pagoda::api {

void refuse_unsupported_fields(FieldReader& fields);

}  // namespace pagoda::api
