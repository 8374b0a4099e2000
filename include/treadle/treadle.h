// Treadle's public C++ API.
#pragma once

#include "treadle/array.h"
#include "treadle/creation.h"
#include "treadle/device.h"
#include "treadle/dtype.h"
#include "treadle/error.h"
#include "treadle/fft.h"
#include "treadle/kernel.h"
#include "treadle/linalg.h"
#include "treadle/random.h"
#include "treadle/texture.h"
#include "treadle/user_kernel.h"
