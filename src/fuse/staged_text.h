// What the texts of kernels in stages share: parameters, the places of a result's operands, and the
// way from an accumulator to results. An operand k is a leaf, a store or a kept store; p<k> points
// to its first element of the result at hand.
#pragma once

#include <sstream>

#include "fuse/staged_plan.h"

namespace td::fuse {

class StagedText {
 protected:
  StagedText(const Program& program, const StagedPlan& plan);

  std::size_t leaves() const { return program_.leaves.size(); }
  std::size_t operands() const { return plan_.addresses.size(); }
  const View& operand(std::size_t k) const;
  std::size_t operand_of(std::size_t store) const { return leaves() + store; }
  std::string type(std::size_t k) const {
    return std::string(k < leaves() ? read_name(operand(k).dtype) : cuda_name(operand(k).dtype));
  }
  // The parameter of an operand: a<k>, b<k>, o<k>.
  std::string name(std::size_t k) const;
  bool one_stage() const { return uses_.size() == 1; }
  // Of a stage that holds moments, which start with an element.
  bool starts(std::size_t stage) const;

  // All kernels take the same parameters.
  void head(const char* kernel);
  // Pointers p<k> to the first element of result m.
  void begin_result();
  // Variables that outlive a stage.
  void declare_results();
  // From the accumulator of a stage to its roots and kept steps.
  void results(int stage, const std::string& accumulator);
  void kept_stores();

  // What `element<stage>` takes behind the leaves' values.
  void stage_arguments(int stage, int roots_before);
  void call_element(int stage, const std::string& suffix);
  void declare_element(int stage, const std::string& suffix);
  // y and z<k> of the element at `index`.
  void evaluate(int stage, const std::string& index, const std::string& suffix);
  // The place of operand k at `index` of the reduced axes; coordinates e<d> are known if needed.
  std::string reduced_offset(std::size_t k, const std::string& index) const;
  bool stepping(std::size_t k) const { return reduced_strides(plan_, k) > 0; }
  bool loads_need_coordinates(const StageUse& use) const;
  void coordinates(const std::string& index) {
    out_ << split_index(index, "e", "rd", plan_.reduced.dims.size());
  }

  const Program& program_;
  const StagedPlan& plan_;
  std::vector<StageUse> uses_;
  std::ostringstream out_;
};

}  // namespace td::fuse
