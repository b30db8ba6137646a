// Trigonometric and hyperbolic functions.
#include "kernels/functors/math.h"
#include "runtime/cuda/elementwise.h"

namespace ort_train::runtime::cuda {

namespace {

namespace functors = ort_train::kernels::functors;

const FactoryRegistration registrations[] = {
    {"Sin", unary<FloatingTypes, functors::Sin>},     {"Cos", unary<FloatingTypes, functors::Cos>},
    {"Tan", unary<FloatingTypes, functors::Tan>},     {"Asin", unary<FloatingTypes, functors::Asin>},
    {"Acos", unary<FloatingTypes, functors::Acos>},   {"Atan", unary<FloatingTypes, functors::Atan>},
    {"Sinh", unary<FloatingTypes, functors::Sinh>},   {"Cosh", unary<FloatingTypes, functors::Cosh>},
    {"Tanh", unary<FloatingTypes, functors::Tanh>},   {"Asinh", unary<FloatingTypes, functors::Asinh>},
    {"Acosh", unary<FloatingTypes, functors::Acosh>}, {"Atanh", unary<FloatingTypes, functors::Atanh>},
};

}  // namespace

}  // namespace ort_train::runtime::cuda
