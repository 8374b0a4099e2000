// Stands in for libcuda.so.1, libnvidia-ml.so.1, libcudart.so and libnvrtc.so in tests of `treadle check`. Answers
// what the environment says: STANDIN_<NAME>=number. Computes nothing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int said(const char* name, int otherwise) {
  const char* text = getenv(name);
  return text && *text ? atoi(text) : otherwise;
}

static int words(const char* name, const char* otherwise, char* out, unsigned size) {
  const char* text = getenv(name);
  snprintf(out, size, "%s", text && *text ? text : otherwise);
  return 0;
}

// ---- the driver ----

int cuInit(unsigned flags) {
  (void)flags;
  printf("noise of a library on standard output\n");
  fflush(stdout);
  if (said("STANDIN_SLEEP", 0)) sleep((unsigned)said("STANDIN_SLEEP", 0));
  if (said("STANDIN_ABORT", 0)) abort();
  if (said("STANDIN_EXIT", 0)) _exit(said("STANDIN_EXIT", 0));
  return said("STANDIN_INIT", 0);
}

int cuDriverGetVersion(int* version) {
  *version = said("STANDIN_VERSION", 13000);
  return said("STANDIN_VERSION_CODE", 0);
}

int cuDeviceGetCount(int* count) {
  *count = said("STANDIN_COUNT", 1);
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char* name, int size, int device) {
  (void)device;
  return words("STANDIN_GPU", "NVIDIA H200", name, (unsigned)size);
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  (void)device;
  int capability = said("STANDIN_CAPABILITY", 90);
  *value = attribute == 75 ? capability / 10 : capability % 10;
  return 0;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  (void)device;
  *context = context;
  if (said("STANDIN_CONTEXT_SLEEP", 0)) sleep((unsigned)said("STANDIN_CONTEXT_SLEEP", 0));
  return said("STANDIN_CONTEXT", 0);
}

int cuCtxSetCurrent(void* context) {
  (void)context;
  return 0;
}

static unsigned held;

int cuMemAlloc_v2(unsigned long long* memory, size_t bytes) {
  (void)bytes;
  *memory = 4096;
  return 0;
}

int cuMemcpyHtoD_v2(unsigned long long to, const void* from, size_t bytes) {
  (void)to;
  memcpy(&held, from, bytes);
  return 0;
}

int cuMemcpyDtoH_v2(void* to, unsigned long long from, size_t bytes) {
  (void)from;
  held ^= (unsigned)said("STANDIN_GARBLE", 0);
  memcpy(to, &held, bytes);
  return said("STANDIN_COPY", 0);
}

int cuMemFree_v2(unsigned long long memory) {
  (void)memory;
  return 0;
}

// ---- the management library ----

int nvmlInit_v2(void) { return said("STANDIN_NVML", 0); }
int nvmlShutdown(void) { return 0; }

int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  return words("STANDIN_DRIVER", "580.65.06", text, size);
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = (unsigned)said("STANDIN_NVML_COUNT", 1);
  return said("STANDIN_NVML_COUNT_CODE", 0);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = (void*)(size_t)(index + 1);
  return said("STANDIN_NVML_DEVICE", 0);
}

int nvmlDeviceGetName(void* device, char* text, unsigned size) {
  (void)device;
  return words("STANDIN_GPU", "NVIDIA H200", text, size);
}

int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
  size_t number = (size_t)device;
  snprintf(text, size, number > 100 ? "MIG-%08zx-0000-4000-8000-000000000000" : "GPU-%08zx-1111-4222-8333-444444444444",
           number);
  return 0;
}

int nvmlDeviceGetComputeMode(void* device, int* mode) {
  (void)device;
  *mode = said("STANDIN_MODE", 0);
  return 0;
}

int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
  (void)device;
  *current = *pending = (unsigned)said("STANDIN_MIG", 0);
  return said("STANDIN_MIG", -1) < 0 ? 3 : 0;
}

int nvmlDeviceGetMigDeviceHandleByIndex(void* device, unsigned index, void** instance) {
  (void)device;
  *instance = (void*)(size_t)(index + 101);
  return (int)index < said("STANDIN_INSTANCES", 0) ? 0 : 6;
}

int nvmlDeviceGetRemappedRows(void* device, unsigned* a, unsigned* b, unsigned* pending, unsigned* failed) {
  (void)device;
  *a = *b = *failed = 0;
  *pending = (unsigned)said("STANDIN_REMAP", 0);
  return 0;
}

int nvmlDeviceGetTotalEccErrors(void* device, int type, int counter, unsigned long long* count) {
  (void)device, (void)type, (void)counter;
  *count = (unsigned long long)said("STANDIN_ECC", 0);
  return 0;
}

struct Fabric {
  unsigned char cluster[16];
  unsigned status, clique;
  unsigned char state;
};

int nvmlDeviceGetGpuFabricInfo(void* device, struct Fabric* info) {
  (void)device;
  info->state = (unsigned char)said("STANDIN_FABRIC", 0);
  return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void* list) {
  (void)device, (void)list;
  *count = (unsigned)said("STANDIN_PROCESSES", 0);
  return *count ? 7 : 0;
}

// ---- the runtime ----

int cudaRuntimeGetVersion(int* version) {
  *version = said("STANDIN_RUNTIME", 13000);
  return 0;
}

int cudaDriverGetVersion(int* version) {
  *version = said("STANDIN_RUNTIME_DRIVER", 13000);
  return 0;
}

int cudaGetDeviceCount(int* count) {
  *count = 1;
  return said("STANDIN_RUNTIME_CODE", 0);
}

// ---- the compiler ----

int nvrtcVersion(int* major, int* minor) {
  *major = said("STANDIN_NVRTC", 130) / 10;
  *minor = said("STANDIN_NVRTC", 130) % 10;
  return 0;
}

static int archs(int* out) {
  char text[256], *part, *rest = text;
  int count = 0;
  words("STANDIN_ARCHS", "75 80 86 87 88 89 90 100 103 110 120 121", text, sizeof text);
  while ((part = strtok_r(rest, " ", &rest))) {
    if (out) out[count] = atoi(part);
    ++count;
  }
  return count;
}

int nvrtcGetNumSupportedArchs(int* count) {
  *count = archs(0);
  return 0;
}

int nvrtcGetSupportedArchs(int* out) {
  archs(out);
  return 0;
}

int nvrtcCreateProgram(void** program, const char* text, const char* name, int n, void* a, void* b) {
  (void)text, (void)name, (void)n, (void)a, (void)b;
  *program = program;
  return 0;
}

int nvrtcCompileProgram(void* program, int count, void* options) {
  (void)program, (void)count, (void)options;
  return said("STANDIN_COMPILE", 0);
}
