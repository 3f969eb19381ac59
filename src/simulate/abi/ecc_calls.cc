// Memory errors: counters, retired pages, remapped rows and banks, repairs.
#include <nvml.h>

#include "base/format.h"
#include "simulate/abi/reply.h"

using namespace pagoda::simulate;

namespace {

constexpr const char* kLocations[] = {"l1_cache",       "l2_cache",    "dram", "register_file",
                                      "texture_memory", "texture_shm", "cbu",  "sram"};

// "ecc.corrected.volatile"; empty for numbers that are none.
std::string ecc_stem(nvmlMemoryErrorType_t type, nvmlEccCounterType_t counter) {
  if (type < 0 || type >= NVML_MEMORY_ERROR_TYPE_COUNT || counter < 0 ||
      counter >= NVML_ECC_COUNTER_TYPE_COUNT)
    return {};
  return pagoda::format("ecc.{}.{}", type == NVML_MEMORY_ERROR_TYPE_CORRECTED ? "corrected" : "uncorrected",
                        counter == NVML_VOLATILE_ECC ? "volatile" : "aggregate");
}

unsigned field(const Reply& reply, const Record& record, std::string_view key) {
  return static_cast<unsigned>(reply.machine().record_value(reply.device(), record, key).number);
}

nvmlReturn_t retired_pages(const char* function, nvmlDevice_t device, nvmlPageRetirementCause_t cause,
                           unsigned* count, unsigned long long* addresses, unsigned long long* times) {
  Reply reply(function, device);
  if (reply.require(count != nullptr)
          .require(cause >= 0 && cause < NVML_PAGE_RETIREMENT_CAUSE_COUNT)
          .failed())
    return reply;
  const Answer pages = reply.get("retired_pages");
  if (pages.code != NVML_SUCCESS) return pages.code;
  std::vector<unsigned long long> found, when;
  for (const Record& page : *pages.list) {
    if (field(reply, page, "cause") != static_cast<unsigned>(cause)) continue;
    found.push_back(static_cast<unsigned long long>(
        reply.machine().record_value(reply.device(), page, "address").number));
    when.push_back(static_cast<unsigned long long>(
        reply.machine().record_value(reply.device(), page, "time_us").number));
  }
  const nvmlReturn_t code = hand_out(found, count, addresses);
  if (code == NVML_SUCCESS && times != nullptr) std::copy(when.begin(), when.end(), times);
  return code;
}

}  // namespace

PAGODA_SIMULATED_PAIR(nvmlDeviceGetEccMode, nvmlEnableState_t, "ecc.mode.current", "ecc.mode.pending")
PAGODA_SIMULATED_VALUE(nvmlDeviceGetDefaultEccMode, nvmlEnableState_t, "ecc.mode.default")

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetDramEncryptionMode(nvmlDevice_t device,
                                                                nvmlDramEncryptionInfo_t* current,
                                                                nvmlDramEncryptionInfo_t* pending) {
  Reply reply("nvmlDeviceGetDramEncryptionMode", device);
  reply.require(
      is_version(current, {nvmlDramEncryptionInfo_v1}) && is_version(pending, {nvmlDramEncryptionInfo_v1}),
      NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
  if (reply.failed()) return reply;
  return reply.put("dram_encryption.current", &current->encryptionState)
      .put("dram_encryption.pending", &pending->encryptionState);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t type,
                                                            nvmlEccCounterType_t counter,
                                                            unsigned long long* count) {
  Reply reply("nvmlDeviceGetTotalEccErrors", device);
  const std::string stem = ecc_stem(type, counter);
  if (reply.require(!stem.empty()).failed()) return reply;
  return reply.put(stem + ".total", count);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device,
                                                                nvmlMemoryErrorType_t type,
                                                                nvmlEccCounterType_t counter,
                                                                nvmlMemoryLocation_t location,
                                                                unsigned long long* count) {
  Reply reply("nvmlDeviceGetMemoryErrorCounter", device);
  const std::string stem = ecc_stem(type, counter);
  if (reply.require(!stem.empty()).require(location >= 0 && location < NVML_MEMORY_LOCATION_COUNT).failed())
    return reply;
  return reply.put(stem + "." + kLocations[location], count);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetDetailedEccErrors(nvmlDevice_t device,
                                                               nvmlMemoryErrorType_t type,
                                                               nvmlEccCounterType_t counter,
                                                               nvmlEccErrorCounts_t* counts) {
  Reply reply("nvmlDeviceGetDetailedEccErrors", device);
  const std::string stem = ecc_stem(type, counter);
  if (reply.require(!stem.empty()).require(counts != nullptr).failed()) return reply;
  return reply.put(stem + ".dram", &counts->deviceMemory)
      .put_or(stem + ".l1_cache", 0, &counts->l1Cache)
      .put_or(stem + ".l2_cache", 0, &counts->l2Cache)
      .put_or(stem + ".register_file", 0, &counts->registerFile);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetSramEccErrorStatus(nvmlDevice_t device,
                                                                nvmlEccSramErrorStatus_t* status) {
  Reply reply("nvmlDeviceGetSramEccErrorStatus", device);
  if (reply.require(is_version(status, {nvmlEccSramErrorStatus_v1}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
          .failed())
    return reply;
  return reply.put("ecc.sram.aggregate.parity", &status->aggregateUncParity)
      .put("ecc.sram.aggregate.secded", &status->aggregateUncSecDed)
      .put("ecc.sram.aggregate.corrected", &status->aggregateCor)
      .put("ecc.sram.volatile.parity", &status->volatileUncParity)
      .put("ecc.sram.volatile.secded", &status->volatileUncSecDed)
      .put("ecc.sram.volatile.corrected", &status->volatileCor)
      .put("ecc.sram.source.l2", &status->aggregateUncBucketL2)
      .put("ecc.sram.source.sm", &status->aggregateUncBucketSm)
      .put("ecc.sram.source.pcie", &status->aggregateUncBucketPcie)
      .put("ecc.sram.source.mcu", &status->aggregateUncBucketMcu)
      .put("ecc.sram.source.other", &status->aggregateUncBucketOther)
      .put("ecc.sram.threshold_exceeded", &status->bThresholdExceeded);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts(
    nvmlDevice_t device, nvmlEccSramUniqueUncorrectedErrorCounts_t* counts) {
  Reply reply("nvmlDeviceGetSramUniqueUncorrectedEccErrorCounts", device);
  if (reply
          .require(is_version(counts, {nvmlEccSramUniqueUncorrectedErrorCounts_v1}),
                   NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
          .failed())
    return reply;
  const Answer entries = reply.get("ecc.sram.unique");
  if (entries.code != NVML_SUCCESS) return entries.code;
  std::vector<nvmlEccSramUniqueUncorrectedErrorEntry_v1_t> found;
  for (const Record& entry : *entries.list)
    found.push_back({field(reply, entry, "unit"), field(reply, entry, "location"),
                     field(reply, entry, "sublocation"), field(reply, entry, "extlocation"),
                     field(reply, entry, "address"), field(reply, entry, "parity"),
                     field(reply, entry, "count")});
  // Unlike other lists: no array asks for the number of entries, and that is no fault.
  if (counts->entries == nullptr) {
    counts->entryCount = static_cast<unsigned>(found.size());
    return NVML_SUCCESS;
  }
  return hand_out(found, &counts->entryCount, counts->entries);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetRepairStatus(nvmlDevice_t device, nvmlRepairStatus_t* status) {
  Reply reply("nvmlDeviceGetRepairStatus", device);
  if (reply.require(is_version(status, {nvmlRepairStatus_v1}), NVML_ERROR_ARGUMENT_VERSION_MISMATCH).failed())
    return reply;
  return reply.put("repair.channel_pending", &status->bChannelRepairPending)
      .put("repair.tpc_pending", &status->bTpcRepairPending);
}
PAGODA_NVML_EXPORT nvmlReturn_t
nvmlDeviceGetUnrepairableMemoryFlag_v1(nvmlDevice_t device, nvmlUnrepairableMemoryStatus_v1_t* status) {
  Reply reply("nvmlDeviceGetUnrepairableMemoryFlag_v1", device);
  if (reply.require(status != nullptr).failed()) return reply;
  return reply.put("repair.unrepairable_memory", &status->bUnrepairableMemory);
}

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetRetiredPages_v2(nvmlDevice_t device,
                                                             nvmlPageRetirementCause_t cause, unsigned* count,
                                                             unsigned long long* addresses,
                                                             unsigned long long* timestamps) {
  return retired_pages("nvmlDeviceGetRetiredPages_v2", device, cause, count, addresses, timestamps);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetRetiredPages(nvmlDevice_t device,
                                                          nvmlPageRetirementCause_t cause, unsigned* count,
                                                          unsigned long long* addresses) {
  return retired_pages("nvmlDeviceGetRetiredPages", device, cause, count, addresses, nullptr);
}
PAGODA_SIMULATED_VALUE(nvmlDeviceGetRetiredPagesPendingStatus, nvmlEnableState_t, "retired_pages_pending")

PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned* correctable,
                                                          unsigned* uncorrectable, unsigned* pending,
                                                          unsigned* failure) {
  return Reply("nvmlDeviceGetRemappedRows", device)
      .put("remapped_rows.correctable", correctable)
      .put("remapped_rows.uncorrectable", uncorrectable)
      .put("remapped_rows.pending", pending)
      .put("remapped_rows.failure", failure);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetRemappedRows_v2(nvmlDevice_t device,
                                                             nvmlRemappedRowsInfo_v2_t* info) {
  Reply reply("nvmlDeviceGetRemappedRows_v2", device);
  if (reply.require(info != nullptr).failed()) return reply;
  return reply.put("remapped_rows.correctable", &info->corrActiveRemaps)
      .put("remapped_rows.correctable_inactive", &info->corrInactiveRemaps)
      .put("remapped_rows.uncorrectable", &info->uncActiveRemaps)
      .put("remapped_rows.uncorrectable_inactive", &info->uncInactiveRemaps)
      .put("remapped_rows.pending", &info->bPending)
      .put("remapped_rows.failure", &info->bFailureOccurred);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetRowRemapperHistogram(nvmlDevice_t device,
                                                                  nvmlRowRemapperHistogramValues_t* values) {
  Reply reply("nvmlDeviceGetRowRemapperHistogram", device);
  if (reply.require(values != nullptr).failed()) return reply;
  return reply.put("remapped_rows.histogram.max", &values->max)
      .put("remapped_rows.histogram.high", &values->high)
      .put("remapped_rows.histogram.partial", &values->partial)
      .put("remapped_rows.histogram.low", &values->low)
      .put("remapped_rows.histogram.none", &values->none);
}
PAGODA_NVML_EXPORT nvmlReturn_t nvmlDeviceGetBankRemapperStatus_v1(nvmlDevice_t device,
                                                                   nvmlEccBankRemapperStatus_v1_t* status) {
  Reply reply("nvmlDeviceGetBankRemapperStatus_v1", device);
  if (reply.require(status != nullptr).failed()) return reply;
  return reply.put("remapped_banks.active", &status->activeRemappings)
      .put("remapped_banks.inactive", &status->inactiveRemappings)
      .put("remapped_banks.pending", &status->bPending)
      .put("remapped_banks.max", &status->histogram.maxSpareGroupCount)
      .put("remapped_banks.none", &status->histogram.noSpareGroupCount);
}
