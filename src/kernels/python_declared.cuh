// Calls of functions of CUDA C++ that declare_device names.
//
// A declaration states the bits that a function takes and gives, as separate compilation would.
// Here the function stands in the same text and may name the same bits by types of its own:
// unsigned* for the address of an int, a reference for a pointer, __half for a float16. Its
// parameters and its result are converted, bit by bit, so both compilers see one declaration of it.
//
// Stands behind python.cuh.
namespace tdpy {

template <class T>
struct is_pointer {
  static constexpr bool value = false;
};
template <class T>
struct is_pointer<T*> {
  static constexpr bool value = true;
};

// 0 stays 0 when an integer takes it, and a fraction is lost.
template <class T>
constexpr bool holds_fractions() {
  return (T)0.5 != (T)0 && sizeof(T) > 1;  // one byte: bool, for which 0.5 is true
}

template <class To>
struct bits_as {
  template <class From>
  static TDPY To from(From value) {
    static_assert(sizeof(To) == sizeof(From),
                  "declare_device: a parameter or the result has another size than declared");
    if constexpr (is_same<To, From>::value) {
      return value;
    } else if constexpr (is_pointer<To>::value || is_pointer<From>::value) {
      return (To)value;
    } else if constexpr (__is_class(To) || __is_class(From)) {
      To result;
      memcpy(&result, &value, sizeof result);
      return result;
    } else {
      static_assert(holds_fractions<To>() == holds_fractions<From>(),
                    "declare_device: a parameter or the result is of another kind than declared");
      return (To)value;
    }
  }
};
template <class To>
struct bits_as<To&> {
  template <class From>
  static TDPY To& from(From* value) {
    return *(To*)value;
  }
};

// What `function` gives for arguments of the declared types, as the declared result.
template <class Result, auto function, class R, class... P, class... A>
TDPY Result call_declared(R (*)(P...), A... arguments) {
  static_assert(sizeof...(P) == sizeof...(A),
                "declare_device: the function takes another number of parameters than declared");
  if constexpr (is_same<Result, void>::value)
    function(bits_as<P>::from(arguments)...);
  else
    return bits_as<Result>::from(function(bits_as<P>::from(arguments)...));
}

}  // namespace tdpy
