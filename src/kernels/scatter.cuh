// Updates of one element that many threads may do at once. Numbers of 8 and 16 bits are updated
// through the 32-bit word that holds them.

template <class Word, class T>
TD_FN T td_from_word(Word word) {
  return *reinterpret_cast<const T*>(&word);
}

template <int bytes>
struct td_part_of_word {
  typedef unsigned char type;
};
template <>
struct td_part_of_word<2> {
  typedef unsigned short type;
};

struct td_scatter_add {
  template <class T>
  TD_FN T combine(T a, T b) {
    return td_add(a, b);
  }
};
struct td_scatter_maximum {
  template <class T>
  TD_FN T combine(T a, T b) {
    return td_maximum(a, b);
  }
};
struct td_scatter_minimum {
  template <class T>
  TD_FN T combine(T a, T b) {
    return td_minimum(a, b);
  }
};

template <class F, class Word, class T>
TD_FN void td_swap_until_done(T* p, T v) {
  Word* word = reinterpret_cast<Word*>(p);
  Word seen = *word, before;
  do {
    before = seen;
    const T now = F::combine(td_from_word<Word, T>(before), v);
    seen = atomicCAS(word, before, *reinterpret_cast<const Word*>(&now));
  } while (seen != before);
}

template <class F, class T>
TD_FN void td_swap_within_word(T* p, T v) {
  const unsigned long long address = reinterpret_cast<unsigned long long>(p);
  unsigned* word = reinterpret_cast<unsigned*>(address & ~3ull);
  const unsigned shift = 8u * (unsigned)(address & 3ull);
  const unsigned mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
  typedef typename td_part_of_word<sizeof(T)>::type Part;
  unsigned seen = *word, before;
  do {
    before = seen;
    const T now = F::combine(td_from_word<Part, T>((Part)(before >> shift)), v);
    const unsigned bits = (unsigned)*reinterpret_cast<const Part*>(&now) << shift;
    seen = atomicCAS(word, before, (before & ~mask) | bits);
  } while (seen != before);
}

template <class F, class T>
TD_FN void td_update(T* p, T v) {
  constexpr bool adds = td_same<F, td_scatter_add>::value;
#ifdef TD_COMPLEX
  if constexpr (td_traits<T>::complex) {
    atomicAdd(&p->re, v.re);
    atomicAdd(&p->im, v.im);
  } else
#endif
      if constexpr (sizeof(T) < 4) {
    td_swap_within_word<F>(p, v);
  } else if constexpr (adds && td_same<T, long long>::value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(p), (unsigned long long)v);
  } else if constexpr (adds) {
    atomicAdd(p, v);
  } else if constexpr (td_traits<T>::integer && td_same<F, td_scatter_maximum>::value) {
    atomicMax(p, v);
  } else if constexpr (td_traits<T>::integer) {
    atomicMin(p, v);
  } else if constexpr (sizeof(T) == 4) {
    td_swap_until_done<F, unsigned>(p, v);
  } else {
    td_swap_until_done<F, unsigned long long>(p, v);
  }
}
