/* A CUDA driver library of one device whose memory is the host's, for the diagnostic's tests. The device's UUID is
   $FAKE_CUDA_UUID (32 hex digits); $FAKE_CUDA_FAULT is what goes wrong: "init", "full", "memory", "pcie", "stress". */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TOTAL ((size_t)64 << 20)

typedef int Result;
static size_t used;

static int fault(const char *name) {
  const char *wanted = getenv("FAKE_CUDA_FAULT");
  return wanted != NULL && strcmp(wanted, name) == 0;
}

Result cuInit(unsigned flags) { return flags == 0 && !fault("init") ? 0 : 100; }
Result cuDeviceGetCount(int *count) { *count = 1; return 0; }
Result cuDeviceGetUuid(unsigned char *uuid, int device) {
  const char *digits = getenv("FAKE_CUDA_UUID");
  for (int i = 0; i < 16; ++i) {
    char pair[3] = {digits[2 * i], digits[2 * i + 1], 0};
    uuid[i] = (unsigned char)strtoul(pair, NULL, 16);
  }
  return device;
}
Result cuDevicePrimaryCtxRetain(void **context, int device) { *context = &used; return device; }
Result cuDevicePrimaryCtxRelease_v2(int device) { return device; }
Result cuCtxSetCurrent(void *context) { return context == &used ? 0 : 201; }
Result cuCtxSynchronize(void) { return 0; }
Result cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
  *total = TOTAL;
  *free_bytes = (fault("full") ? TOTAL / 2 : TOTAL) - used;
  return 0;
}
Result cuMemAlloc_v2(unsigned long long *pointer, size_t bytes) {
  if (used + bytes > TOTAL) return 2;
  char *memory = malloc(bytes + 16);
  memcpy(memory, &bytes, sizeof bytes);
  used += bytes;
  *pointer = (unsigned long long)(size_t)(memory + 16);
  return 0;
}
Result cuMemFree_v2(unsigned long long pointer) {
  char *memory = (char *)(size_t)pointer - 16;
  size_t bytes;
  memcpy(&bytes, memory, sizeof bytes);
  used -= bytes;
  free(memory);
  return 0;
}
Result cuMemAllocHost_v2(void **pointer, size_t bytes) { *pointer = malloc(bytes); return *pointer == NULL ? 2 : 0; }
Result cuMemFreeHost(void *pointer) { free(pointer); return 0; }
Result cuMemsetD32_v2(unsigned long long to, unsigned word, size_t words) {
  unsigned *memory = (unsigned *)(size_t)to;
  for (size_t i = 0; i < words; ++i) memory[i] = word;
  if (fault("memory") && words > 10) memory[10] |= 4; /* a bit that is stuck */
  return 0;
}
Result cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes) {
  memcpy(to, (void *)(size_t)from, bytes);
  if (fault("pcie")) ((char *)to)[bytes / 2] ^= 1;
  return 0;
}
Result cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes) {
  memcpy((void *)(size_t)to, from, bytes);
  return 0;
}
Result cuMemcpyDtoD_v2(unsigned long long to, unsigned long long from, size_t bytes) {
  memcpy((void *)(size_t)to, (void *)(size_t)from, bytes);
  return 0;
}
Result cuModuleLoadData(void **module, const void *image) {
  *module = &used;
  return strstr(image, ".visible .entry stress") != NULL ? 0 : 200;
}
Result cuModuleUnload(void *module) { return module == &used ? 0 : 201; }
Result cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = module;
  return strcmp(name, "stress") == 0 ? 0 : 500;
}
Result cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **parameters, void **extra) {
  (void)function, (void)gy, (void)gz, (void)by, (void)bz, (void)shared, (void)stream, (void)extra;
  float *data = (float *)(size_t) * (unsigned long long *)parameters[0];
  const unsigned rounds = *(unsigned *)parameters[1];
  float x = 1;
  for (unsigned i = 0; i < rounds; ++i) x = x * 0.5f + 1;
  for (size_t i = 0; i < (size_t)gx * bx; ++i) data[i] = x;
  if (fault("stress")) data[7] += 1;
  return 0;
}
Result cuGetErrorName(int code, const char **name) {
  *name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_UNKNOWN";
  return 0;
}
