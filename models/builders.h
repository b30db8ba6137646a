#pragma once

#include <cstdint>
#include <memory>

#include "graph/graph.h"

namespace ort_train::models {

/// What one chooses of a model.
struct Options {
  Dims input;                ///< extents without the batch: {channels, height, width} or {features}
  std::int64_t classes = 0;  ///< at least 2
  std::uint64_t seed = 1;    ///< of the initial weights
};

// Every builder throws an Error of kind `usage` that names the model when the options do not fit it. All image
// classifiers map "image" [N, channels, height, width] to "probabilities" [N, classes].

/// GoogLeNet reduced to 32x32 images, as C. Zhang, S. Bengio, M. Hardt, B. Recht and O. Vinyals draw it in
/// "Understanding deep learning requires rethinking generalization" (2017). Every convolution has a bias and is
/// followed by BatchNormalization (epsilon 1e-3, momentum 0.99) and Relu. Glorot uniform weights. The average pool
/// before the classifier spans whatever is left of the image: 7x7 of 32x32.
std::unique_ptr<graph::Graph> build_minigooglenet(const Options& options);

/// Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, "Gradient-based learning applied to document recognition" (1998), in
/// the later form with max pools and Relu: 5x5 convolutions to 20 and 50 channels, dense layers of 500 and of the
/// classes. Glorot uniform weights.
std::unique_ptr<graph::Graph> build_lenet(const Options& options);

/// "features" [N, features] through a dense layer of as many units with Relu to "probability" [N, 1], the Sigmoid of
/// one unit. `classes` has to be 2. Glorot uniform weights.
std::unique_ptr<graph::Graph> build_dense_binary(const Options& options);

/// K. He, X. Zhang, S. Ren and J. Sun, "Deep residual learning for image recognition" (2016): 18 layers, the form for
/// ImageNet, with a projection (1x1 convolution) where a shortcut changes shape. He normal weights.
std::unique_ptr<graph::Graph> build_resnet18(const Options& options);

/// The same paper's 20 layers for CIFAR: three stages of three blocks with 16, 32 and 64 channels. Shortcuts that
/// change shape are projections too (the paper's option B), not padded identities.
std::unique_ptr<graph::Graph> build_resnet20(const Options& options);

/// K. Simonyan and A. Zisserman, "Very deep convolutional networks for large-scale image recognition" (2015),
/// configuration D, with its own head: two dense layers of 4096, each with Relu and Dropout, and the classifier. The
/// backbone's layers are "features.*", the head's "head.*". He normal weights.
std::unique_ptr<graph::Graph> build_vgg16(const Options& options);

/// The same backbone with a small head for fine-tuning: GlobalAveragePool, a dense layer of 1024 with Relu, the
/// classifier.
std::unique_ptr<graph::Graph> build_vgg16_small_head(const Options& options);

/// F. N. Iandola, S. Han, M. W. Moskewicz, K. Ashraf, W. J. Dally and K. Keutzer, "SqueezeNet" (2016), version 1.1. The
/// layers end with the convolution to the classes, "head", Relu and GlobalAveragePool. He normal weights.
std::unique_ptr<graph::Graph> build_squeezenet(const Options& options);

// --- what the builders share

/// Throws unless there are three positive extents and at least 2 classes.
void check_image_classifier(const char* model, const Options& options);

}  // namespace ort_train::models
