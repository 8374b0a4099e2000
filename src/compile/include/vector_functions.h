// Everything is in the prelude.
#pragma once
#pragma clang system_header
