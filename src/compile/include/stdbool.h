#pragma once
#pragma clang system_header
// bool is a keyword.
