#include "userkernel/parameters.h"

#include <cctype>
#include <set>

#include "array/impl.h"
#include "array/promotion.h"
#include "base/text.h"
#include "launch/scalars.h"
#include "treadle/error.h"

namespace td {

using base::cat;

namespace userkernel {
namespace {

bool is_identifier(const std::string& name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (char c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  return true;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (char c : text + " ") {
    if (!std::isspace(static_cast<unsigned char>(c))) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(word);
      word.clear();
    }
  }
  return words;
}

// NumPy's other names of dtypes.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"bool_", "bool"},         {"int", "int64"},         {"intp", "int64"},
    {"uint", "uint64"},        {"uintp", "uint64"},      {"byte", "int8"},
    {"ubyte", "uint8"},        {"short", "int16"},       {"ushort", "uint16"},
    {"intc", "int32"},         {"uintc", "uint32"},      {"long", "int64"},
    {"longlong", "int64"},     {"ulong", "uint64"},      {"ulonglong", "uint64"},
    {"half", "float16"},       {"single", "float32"},    {"float", "float64"},
    {"double", "float64"},     {"csingle", "complex64"}, {"cdouble", "complex128"},
    {"complex", "complex128"},
};

DType dtype_of_text(std::string_view text) {
  for (auto [alias, name] : kAliases)
    if (alias == text) return dtype_from_name(name);
  return dtype_from_name(text);
}

KernelParameter parse_parameter(const std::string& text, bool is_const) {
  std::vector<std::string> words = words_of(text);
  if (words.size() < 2)
    throw ValueError(
        cat("kernel parameter '", text, "': it needs a type and a name, as in 'float32 x'"));
  KernelParameter param;
  param.is_const = is_const;
  param.name = words.back();
  param.type = words[words.size() - 2];
  if (!is_identifier(param.name))
    throw ValueError(cat("kernel parameter '", text, "': '", param.name, "' is not a name of C++"));
  for (std::size_t k = 0; k + 2 < words.size(); ++k) {
    if (words[k] == "raw")
      param.raw = true;
    else if (words[k] == "_non_const")
      param.is_const = false;
    else
      throw ValueError(cat("kernel parameter '", text, "': '", words[k],
                           "' is not known; only 'raw' may stand in front of the type"));
  }
  if (param.type.size() > 1) {
    try {
      param.dtype = dtype_of_text(param.type);
    } catch (const TypeError&) {
      throw ValueError(
          cat("kernel parameter '", text, "': '", param.type,
              "' is neither a dtype (float32, int64 …) nor a placeholder of one letter"));
    }
  } else if (!std::isalpha(static_cast<unsigned char>(param.type[0]))) {
    throw ValueError(cat("kernel parameter '", text, "': '", param.type, "' is not a type"));
  }
  return param;
}

[[noreturn]] void mismatch(const std::string& kernel, const KernelParameter& param, DType given,
                           DType wanted) {
  std::string why =
      param.dtype ? "" : cat(" (", param.type, " is ", info(wanted).numpy, " already)");
  throw TypeError(cat("kernel '", kernel, "': Type is mismatched: parameter '", param.name,
                      "' takes ", info(wanted).numpy, why, ", got an array of ", info(given).numpy,
                      "; convert it with .astype('", info(wanted).numpy, "')"));
}

class Inference {
 public:
  Inference(const std::string& kernel, Types& types) : kernel_(kernel), types_(types) {}

  void array(const KernelParameter& param, const KernelArg& arg) {
    const Array* array = std::get_if<Array>(&arg);
    if (!array) return;
    DType given = array->dtype();
    DType wanted = given;
    if (param.dtype)
      wanted = *param.dtype;
    else
      wanted = types_.placeholders.try_emplace(param.type, given).first->second;
    if (given != wanted) mismatch(kernel_, param, given, wanted);
  }

  // Numbers of a placeholder that no array has decided; NumPy's rule for the whole of them.
  void numbers(const std::vector<KernelParameter>& in, std::span<const KernelArg> args) {
    std::map<std::string, std::vector<array::TypeOperand>> found;
    for (std::size_t k = 0; k < in.size(); ++k) {
      if (in[k].dtype || types_.placeholders.contains(in[k].type)) continue;
      if (const auto* typed = std::get_if<TypedScalar>(&args[k]))
        found[in[k].type].push_back(typed->dtype);
      else if (const auto* scalar = std::get_if<Scalar>(&args[k]))
        found[in[k].type].push_back(*scalar);
    }
    for (auto& [type, operands] : found) types_.placeholders[type] = array::result_type(operands);
  }

  void finish(const std::vector<KernelParameter>& params) {
    for (const KernelParameter& param : params) {
      auto known = types_.placeholders.find(param.type);
      if (!param.dtype && known == types_.placeholders.end())
        throw TypeError(cat("kernel '", kernel_, "': the type ", param.type, " of parameter '",
                            param.name,
                            "' cannot be inferred from the arguments; name it, as in "
                            "'float32 ",
                            param.name, "', or pass an output array"));
      types_.params.push_back(param.dtype ? *param.dtype : known->second);
    }
  }

 private:
  const std::string& kernel_;
  Types& types_;
};

}  // namespace

Types infer_types(const std::string& kernel, const std::vector<KernelParameter>& in,
                  const std::vector<KernelParameter>& out, std::span<const KernelArg> args) {
  Types types;
  Inference inference(kernel, types);
  for (std::size_t k = in.size(); k < args.size(); ++k) {
    if (!std::holds_alternative<Array>(args[k]))
      throw TypeError(cat("kernel '", kernel, "': output '", out[k - in.size()].name,
                          "' must be a treadle array"));
    inference.array(out[k - in.size()], args[k]);
  }
  for (std::size_t k = 0; k < in.size(); ++k) inference.array(in[k], args[k]);
  inference.numbers(in, args);
  inference.finish(in);
  inference.finish(out);
  return types;
}

TypedScalar convert_scalar(const std::string& kernel, const KernelParameter& param,
                           const KernelArg& arg, DType dtype) {
  const auto* typed = std::get_if<TypedScalar>(&arg);
  if (typed && typed->dtype == dtype) return *typed;
  const auto* weak = std::get_if<Scalar>(&arg);
  std::string head =
      cat("kernel '", kernel, "': parameter '", param.name, "' (", info(dtype).numpy, ") ");
  if (!typed && !weak)
    throw TypeError(head + "takes an array or a number; pointers and raw bytes are for RawKernel");
  if (param.raw) throw TypeError(head + "is raw and takes an array, not a number");
  Scalar value = typed ? launch::value_of(*typed) : *weak;
  TypedScalar result{dtype, {}};
  switch (launch::write_scalar(value, dtype, result.bytes)) {
    case launch::Fit::exact:
    case launch::Fit::rounded:
      return result;
    case launch::Fit::out_of_range: {
      std::string message = head + "cannot hold " + launch::describe(value);
      if (info(dtype).kind == 'i' || info(dtype).kind == 'u')
        throw OverflowError(message + "; it takes " + launch::range_text(dtype));
      throw ValueError(message + "; declare a wider type");
    }
    case launch::Fit::wrong_kind:
      break;
  }
  throw TypeError(cat(head, "got ", launch::describe(value),
                      ", which does not cast to it by the same_kind rule; convert it yourself, or "
                      "give the parameter its own type"));
}

void check_kernel_name(const std::string& name) {
  if (!is_identifier(name))
    throw ValueError(cat("Invalid kernel name: '", name, "' is not a name of C++"));
}

void check_names(const std::string& kernel, const std::vector<KernelParameter>& in,
                 const std::vector<KernelParameter>& out) {
  std::set<std::string> names;
  for (const auto* params : {&in, &out})
    for (const KernelParameter& param : *params) {
      if (param.name == "i" || param.name[0] == '_')
        throw ValueError(
            cat("kernel '", kernel, "': '", param.name,
                "' cannot be a parameter's name; 'i' and names with a leading underscore "
                "belong to the kernel"));
      if (!names.insert(param.name).second)
        throw ValueError(
            cat("kernel '", kernel, "': two parameters are called '", param.name, "'"));
    }
}

}  // namespace userkernel

std::vector<KernelParameter> parse_parameters(const std::string& text, bool is_const) {
  std::vector<KernelParameter> params;
  if (userkernel::words_of(text).empty()) return params;
  for (const std::string& part : base::split(text, ','))
    params.push_back(userkernel::parse_parameter(part, is_const));
  return params;
}

}  // namespace td
