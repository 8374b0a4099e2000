#include "fuse/staged_text.h"

#include <algorithm>

namespace td::fuse {
namespace {

std::string sum(const std::string& coordinate, const std::string& stride, std::size_t count) {
  std::string text;
  for (std::size_t d = 0; d < count; ++d)
    text += (d ? " + " : "") + coordinate + std::to_string(d) + " * " + stride + std::to_string(d);
  return text.empty() ? "0" : text;
}

}  // namespace

StagedText::StagedText(const Program& program, const StagedPlan& plan)
    : program_(program), plan_(plan) {
  for (int stage = 0; stage < program.stages(); ++stage) uses_.push_back(stage_use(program, stage));
}

const View& StagedText::operand(std::size_t k) const {
  if (k < leaves()) return program_.leaves[k];
  k -= leaves();
  return k < program_.stores.size() ? program_.stores[k].view
                                    : program_.kept_stores[k - program_.stores.size()].view;
}

std::string StagedText::name(std::size_t k) const {
  if (k < leaves()) return "a" + std::to_string(k);
  k -= leaves();
  return k < program_.stores.size() ? "b" + std::to_string(k)
                                    : "o" + std::to_string(k - program_.stores.size());
}

bool StagedText::starts(std::size_t stage) const {
  const std::vector<std::size_t>& roots = uses_[stage].roots;
  return std::any_of(roots.begin(), roots.end(),
                     [&](std::size_t k) { return program_.roots[k].reduction == Reduction::var; });
}

void StagedText::head(const char* kernel) {
  out_ << "extern \"C\" __global__ void __launch_bounds__(256"
       << (plan_.least_blocks ? ", " + std::to_string(plan_.least_blocks) : "") << ") " << kernel
       << "(" << parameter_list(program_);
  for (std::size_t k = 0; k < program_.kept_stores.size(); ++k)
    out_ << type(leaves() + program_.stores.size() + k) << "* o" << k << ", ";
  for (std::size_t k = 0; k < program_.roots.size(); ++k) out_ << "double n" << k << ", ";
  out_ << "A0* part, td_index outputs, td_index length, td_index chunk, int splits, int across";
  for (std::size_t d = 0; d < plan_.kept.dims.size(); ++d) out_ << ", td_index kd" << d;
  for (std::size_t k = 0; k < operands(); ++k)
    for (std::size_t d = 0; d < plan_.kept.dims.size(); ++d)
      out_ << ", td_index k" << k << "_" << d;
  for (std::size_t d = 0; d < plan_.reduced.dims.size(); ++d) out_ << ", td_index rd" << d;
  for (std::size_t k = 0; k < operands(); ++k)
    for (std::size_t d = 0; d < reduced_strides(plan_, k); ++d)
      out_ << ", td_index r" << k << "_" << d;
  out_ << ") {\n";
}

void StagedText::begin_result() {
  out_ << split_index("m", "c", "kd", plan_.kept.dims.size());
  for (std::size_t k = 0; k < operands(); ++k) {
    std::string place = plan_.kept.access[k] == Access::flat
                            ? "m"
                            : sum("c", "k" + std::to_string(k) + "_", plan_.kept.dims.size());
    out_ << "      " << (k < leaves() ? "const " : "") << type(k) << "* p" << k << " = " << name(k)
         << " + (" << place << ");\n";
  }
}

void StagedText::declare_results() {
  for (std::size_t k = 0; k < program_.roots.size(); ++k)
    out_ << "      " << cuda_name(program_.roots[k].output) << " r" << k << ";\n";
  for (std::size_t k = 0; k < program_.steps.size(); ++k)
    if (program_.steps[k].kept)
      out_ << "      " << cuda_name(program_.steps[k].stored) << " v" << k << ";\n";
}

void StagedText::results(int stage, const std::string& accumulator) {
  const StageUse& use = uses_[stage];
  for (std::size_t k : use.roots)
    out_ << "      r" << k << " = G" << k << "::finish(" << accumulator << ".a" << k << ", n" << k
         << ");\n";
  if (use.kept.empty()) return;
  out_ << "      results" << stage << "(";
  for (std::size_t k = 0; k < leaves(); ++k)
    if (use.kept_leaves[k]) out_ << "p" << k << "[0], ";
  stage_arguments(stage, stage + 1);
  for (std::size_t k : use.kept) out_ << "v" << k << ", ";
  out_ << "0);\n";
}

void StagedText::kept_stores() {
  for (std::size_t k = 0; k < program_.kept_stores.size(); ++k) {
    Value value = program_.kept_stores[k].value;
    out_ << "      p" << leaves() + program_.stores.size() + k
         << "[0] = " << (value.kind == Value::Kind::root ? "r" : "v") << int(value.index) << ";\n";
  }
}

void StagedText::stage_arguments(int stage, int roots_before) {
  out_ << scalar_arguments(program_);
  for (std::size_t k = 0; k < program_.roots.size(); ++k)
    if (program_.roots[k].stage < roots_before) out_ << "r" << k << ", ";
  for (std::size_t k = 0; k < program_.steps.size(); ++k)
    if (program_.steps[k].kept && program_.steps[k].stage < stage) out_ << "v" << k << ", ";
}

void StagedText::call_element(int stage, const std::string& suffix) {
  const StageUse& use = uses_[stage];
  stage_arguments(stage, stage);
  for (std::size_t k : use.stores) out_ << "z" << k << suffix << ", ";
  out_ << (use.roots.empty() ? "0" : "y" + suffix) << ");\n";
}

void StagedText::declare_element(int stage, const std::string& suffix) {
  const StageUse& use = uses_[stage];
  if (!use.roots.empty()) out_ << "        In" << stage << " y" << suffix << ";\n";
  for (std::size_t k : use.stores)
    out_ << "        " << type(operand_of(k)) << " z" << k << suffix << ";\n";
}

void StagedText::evaluate(int stage, const std::string& index, const std::string& suffix) {
  const StageUse& use = uses_[stage];
  if (loads_need_coordinates(use)) coordinates(index);
  out_ << "    element" << stage << "(";
  for (std::size_t k = 0; k < leaves(); ++k)
    if (use.leaves[k]) out_ << "p" << k << "[" << reduced_offset(k, index) << "], ";
  call_element(stage, suffix);
}

std::string StagedText::reduced_offset(std::size_t k, const std::string& index) const {
  switch (plan_.reduced.access[k]) {
    case Access::flat:
      return index;
    case Access::constant:
      return "0";
    default:
      return sum("e", "r" + std::to_string(k) + "_", plan_.reduced.dims.size());
  }
}

bool StagedText::loads_need_coordinates(const StageUse& use) const {
  for (std::size_t k = 0; k < leaves(); ++k)
    if (use.leaves[k] && stepping(k)) return true;
  return false;
}

}  // namespace td::fuse
