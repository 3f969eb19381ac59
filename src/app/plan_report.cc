#include "app/plan_report.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "app/memory_bar.h"
#include "base/format.h"
#include "model/footprint.h"

namespace pagoda::app {
namespace {

using model::bytes_text;
using model::Verdict;

constexpr double kGiB = 1024.0 * 1024 * 1024;

class TextReport {
 public:
  TextReport(const PlanReport& report, const Paint& paint, int width)
      : report_(report), plan_(report.plan), asked_(report.plan.deployment), paint_(paint), width_(width) {}

  std::string write() {
    title();
    bar();
    parts();
    sequences();
    speed();
    links();
    for (const std::string& remark : report_.target.remarks) line("", remark);
    verdict();
    report_.ladder.empty() ? serve_as_asked() : ladder();
    return std::move(text_);
  }

 private:
  void line(std::string_view head, const std::string& words) { text_ += format("  {:<22}{}\n", head, words); }
  void row(std::string_view head, int64_t bytes, const std::string& words) {
    text_ += format("  {:<22}{:>11}   {}\n", head, bytes_text(bytes), words);
  }

  void title() {
    const auto& d = asked_;
    std::string split;
    const std::pair<std::string_view, int> ranks[] = {
        {"TP", d.split.tensor}, {"PP", d.split.pipeline}, {"DP", d.split.data}};
    for (const auto& [name, count] : ranks) {
      if (count > 1) split += format(", {} {}", name, count);
    }
    const std::string devices =
        d.split.devices() > 1 ? format("{} × {}", d.split.devices(), d.device.name) : d.device.name;
    text_ += format("{}\n\n", paint_(Ink::kBold, format("{} on {}{}", d.facts.name, devices, split)));
  }

  void bar() {
    const std::array parts = {
        BarPart{"in use", asked_.device.in_use_bytes, "▚", Ink::kRed},
        BarPart{"weights", plan_.memory.weights, "█", Ink::kCyan},
        BarPart{"activations", plan_.memory.activations, "▓", Ink::kYellow},
        BarPart{"graphs and runtime", plan_.memory.other, "▒", Ink::kDim},
        BarPart{"KV cache", plan_.need.fits() ? plan_.memory.kv : plan_.need.one_sequence, "░", Ink::kGreen},
    };
    text_ += memory_bar(parts, asked_.device.memory_bytes, plan_.memory.budget, width_, paint_) + "\n";
  }

  std::string parameters() const {
    const auto billions = [](int64_t count) { return static_cast<double>(count) / 1e9; };
    std::string words = plan_.parameters >= 1'000'000'000
                            ? format("{:.2f} B parameters", billions(plan_.parameters))
                            : format("{:.1f} M parameters", static_cast<double>(plan_.parameters) / 1e6);
    if (plan_.parameters_used < plan_.parameters / 10 * 9 && asked_.facts.experts.count > 0)
      words += format(", {:.2f} B of them for each token", billions(plan_.parameters_used));
    return words;
  }

  void parts() {
    const auto& d = asked_;
    const std::string_view each = d.split.devices() > 1 ? "each device" : "the device";
    row("memory", d.device.memory_bytes,
        d.serving.kv_cache_bytes > 0
            ? std::string("KV by --kv-cache-memory-bytes")
            : format("{} may be used: {:.0f} % of {}", bytes_text(plan_.memory.budget),
                     100 * d.serving.utilization, each));
    row("weights", plan_.memory.weights, format("{}, {}", parameters(), weights_words()));
    row("activations", plan_.memory.activations,
        format("of {} tokens in a step, with logits", d.serving.max_num_batched_tokens));
    if (plan_.graph_bytes > 0) row("CUDA graphs", plan_.graph_bytes, "usual for so many layers");
    row("runtime", plan_.runtime_bytes,
        d.device.kind == DeviceKind::kCpu ? "program and tokenizer"
        : d.split.devices() > 1           ? "CUDA context, libraries, buffers of the collectives"
                                          : "CUDA context and libraries");
    if (plan_.state_bytes > 0)
      row("states", plan_.state_bytes, format("of linear attention, {} sequences", d.serving.max_num_seqs));
    row(plan_.need.fits() ? "KV cache" : "left for KV", plan_.need.fits() ? plan_.memory.kv : plan_.need.room,
        kv_words());
  }

  std::string weights_words() const {
    const auto& d = asked_;
    const bool counted = d.weight_bytes.has_value();
    std::string words(d.scheme.summary);
    if (counted) words = d.device.kind == DeviceKind::kCpu ? "as the engine packs them" : "as stored";
    if (d.split.tensor * d.split.pipeline > 1) words += "; the fullest device's share";
    return words;
  }

  std::string kv_words() const {
    const auto& layout = plan_.share.kv;
    std::string words =
        format("{} for each token in {}", small_bytes(plan_.kv_bytes_per_token), report_.kv_type);
    const auto& facts = asked_.facts;
    if (facts.latent.kv_rank > 0) {
      words += format(": latent, {} numbers in each of {} layers",
                      facts.latent.kv_rank + facts.latent.rope_dim, plan_.share.layers);
      return words;
    }
    words += format(": {} KV head{} of {}", layout.front().kv_heads, layout.front().kv_heads == 1 ? "" : "s",
                    layout.front().head_dim);
    for (size_t i = 0; i < layout.size(); ++i) {
      words += format("{} {} layers", i == 0 ? " in" : " and", layout[i].layers.size());
      if (layout[i].window > 0) words += format(" with a window of {}", layout[i].window);
    }
    const auto stateful = std::count(facts.reach.begin(), facts.reach.end(), model::LayerReach::kState);
    if (stateful > 0) words += format("; {} layers keep a state instead", stateful);
    return words;
  }

  // "128 KiB", "57,344 bytes" is no unit for people.
  static std::string small_bytes(int64_t bytes) {
    const double kib = static_cast<double>(bytes) / 1024;
    return kib >= 1024              ? bytes_text(bytes)
           : kib == std::floor(kib) ? format("{:.0f} KiB", kib)
                                    : format("{:.1f} KiB", kib);
  }

  void sequences() {
    const auto& d = asked_;
    text_ += "\n";
    const std::string length = grouped_digits(d.serving.max_model_len);
    line("one sequence", format("of {} tokens: {}", length, bytes_text(plan_.kv_bytes_per_sequence)) +
                             (d.split.devices() > 1 ? " on each device" : ""));
    if (plan_.need.fits())
      line("at once", format("{:.1f} sequences of {} tokens (of at most {})", plan_.sequences, length,
                             int64_t{d.serving.max_num_seqs} * d.split.data));
    if (plan_.longest_model_len > 0 && plan_.longest_model_len != d.serving.max_model_len)
      line("longest that fits", format("{} tokens", grouped_digits(plan_.longest_model_len)));
  }

  void speed() {
    const auto& speed = plan_.speed;
    if (speed.one_stream <= 0) return;
    std::string words = format("at most {:.0f} tokens/s for one stream", speed.one_stream);
    if (plan_.need.fits() && speed.streams >= 2)
      words += format(", {:.0f} for {:.0f} together at half that length", speed.all_streams, speed.streams);
    line("decoding", words);
    line("", format("bound by the memory's {:.0f} GB/s", asked_.device.memory_bandwidth / 1e9));
  }

  void links() {
    const auto& cost = plan_.parallel_cost;
    if (cost.link == model::LinkKind::kNone) return;
    line("tensor parallel", format("{} sent by each device for each token over {} ({:.0f} GB/s)",
                                   small_bytes(static_cast<int64_t>(cost.bytes_per_token)),
                                   name_of(cost.link), cost.link_bytes_per_s / 1e9));
    const std::string loss = format("about {:.0f} % of decoding (one stream) and {:.0f} % of prompts' time",
                                    100 * cost.decode_loss, 100 * cost.prefill_loss);
    if (!cost.worth_a_warning()) {
      line("", "it costs " + loss);
      return;
    }
    text_ += format(
        "  {}{}\n", paint_(Ink::kYellow, format("{:<22}", "warning")),
        paint_(Ink::kYellow, format("tensor parallelism crosses {}: it costs {}", name_of(cost.link), loss)));
    if (cost.link == model::LinkKind::kNetwork) line("", "keep -tp within a node and put -pp between nodes");
  }

  void verdict() {
    const auto& d = asked_;
    text_ += "\n";
    switch (plan_.verdict) {
      case Verdict::kFits:
        text_ += format(
            "  {}\n", paint_(Ink::kGreen, format("it fits: {:.1f} sequences of {} tokens at once",
                                                 plan_.sequences, grouped_digits(d.serving.max_model_len))));
        return;
      case Verdict::kFitsFewer:
        text_ += format("  {}\n",
                        paint_(Ink::kYellow, format("it fits, but holds {:.1f} of the {} sequences at once",
                                                    plan_.sequences, d.serving.max_num_seqs)));
        return;
      case Verdict::kInUse:
        text_ += format("  {}\n", paint_(Ink::kRed, format("it does not fit now: others hold {} of {}",
                                                           bytes_text(d.device.in_use_bytes),
                                                           bytes_text(d.device.memory_bytes))));
        return;
      case Verdict::kDoesNotFit:
        text_ += format(
            "  {}\n",
            paint_(Ink::kRed, format("it does not fit: {} left for KV, one sequence of {} tokens needs {}",
                                     bytes_text(plan_.need.room), grouped_digits(d.serving.max_model_len),
                                     bytes_text(plan_.need.one_sequence))));
        return;
    }
  }

  void ladder() {
    text_ += "\n  what would, in order of price\n";
    constexpr std::string_view kNumbers[] = {"①", "②", "③", "④", "⑤", "⑥", "⑦"};
    for (size_t i = 0; i < report_.ladder.size() && i < std::size(kNumbers); ++i) {
      const model::Rung& rung = report_.ladder[i];
      const std::string mark = rung.helps ? paint_(Ink::kGreen, "✓") : paint_(Ink::kDim, "✗");
      text_ += format("  {} {} {}\n", kNumbers[i], mark, paint_(Ink::kBold, rung.title));
      text_ += format("        {}\n", rung.outcome);
      if (!rung.helps || rung.flags.empty()) continue;
      const ServeLine serve = line_of_rung(report_, rung);
      if (!serve.refusal.empty())
        text_ += format("        not with this version's serve: {}\n", serve.refusal);
    }
    if (!report_.chosen) {
      text_ += "\n  nothing on this ladder can be served by this version as it stands\n";
      return;
    }
    const model::Rung& rung = report_.ladder[*report_.chosen];
    text_ += format("\n  {}\n", paint_(Ink::kBold, line_of_rung(report_, rung).text));
    note_engine();
  }

  void serve_as_asked() {
    const ServeLine serve = serve_line(report_.model.argument, report_.flags);
    if (!serve.refusal.empty()) {
      text_ += format("  not with this version's serve: {}\n", serve.refusal);
      return;
    }
    text_ += format("\n  {}\n", paint_(Ink::kBold, serve.text));
    note_engine();
  }

  void note_engine() {
    if (asked_.device.kind == DeviceKind::kCuda)
      text_ += "  (this version of pagoda computes on the CPU: the line is for a server on that GPU)\n";
    else if (!report_.model.engine_refusal.empty())
      text_ += format("  (not yet: {})\n", report_.model.engine_refusal);
  }

  const PlanReport& report_;
  const model::DeploymentPlan& plan_;
  const model::Deployment& asked_;
  const Paint& paint_;
  const int width_;
  std::string text_;
};

}  // namespace

std::string grouped_digits(int64_t number) {
  if (number < 1000) return std::to_string(number);
  return format("{},{:03}", grouped_digits(number / 1000), number % 1000);
}

ServeLine line_of_rung(const PlanReport& report, const model::Rung& rung) {
  ServeFlags flags = report.flags;
  flags.insert(flags.end(), rung.flags.begin(), rung.flags.end());
  return serve_line(report.model.argument, flags);
}

std::string plan_report_text(const PlanReport& report, const Paint& paint, int width) {
  return TextReport(report, paint, width).write();
}

}  // namespace pagoda::app
