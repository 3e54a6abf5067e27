"""Image classification."""

from __future__ import annotations

from study.workloads.card import (
    CLASSIFICATION_METAPARAMETERS,
    CLASSIFICATION_METRICS,
    LOOP_OPTIONS,
    WorkloadCard,
)

CARDS: tuple[WorkloadCard, ...] = (
    WorkloadCard(
        name="digits_convnet",
        factory="study.workloads.digits:DigitsConvnet",
        summary="scikit-learn's 8x8 digits (1,400 / 397), random shift, a conv net of 14k weights",
        train_examples=1400,
        metrics=CLASSIFICATION_METRICS,
        metaparameters=CLASSIFICATION_METAPARAMETERS,
    ),
    WorkloadCard(
        name="fashion_mnist_convnet",
        factory="study.workloads.fashion_mnist:FashionMnistConvnet",
        summary="Fashion-MNIST (55,000 / 2,000), random shift, a conv net of 106k weights",
        train_examples=55_000,
        metrics=CLASSIFICATION_METRICS,
        metaparameters=CLASSIFICATION_METAPARAMETERS,
        data_set="fashion_mnist",
    ),
    WorkloadCard(
        name="fashion_mnist_resnet8",
        factory="study.workloads.fashion_mnist:FashionMnistResNet8",
        summary="Fashion-MNIST (55,000 / 1,000), random crop and flip, ResNet-8 of 75k weights",
        train_examples=55_000,
        metrics=CLASSIFICATION_METRICS,
        metaparameters=CLASSIFICATION_METAPARAMETERS,
        data_set="fashion_mnist",
    ),
    WorkloadCard(
        name="cifar10_resnet32",
        factory="study.workloads.cifar10:Cifar10ResNet32",
        summary="CIFAR-10 (45,000 / 5,000), random crop and flip, ResNet-32",
        train_examples=45_000,
        metrics=CLASSIFICATION_METRICS,
        metaparameters=CLASSIFICATION_METAPARAMETERS,
        options=(*LOOP_OPTIONS, "on_error"),
        data_set="cifar10",
        target_note="recalled",
    ),
    WorkloadCard(
        name="imagenet_resnet50",
        factory="study.workloads.imagenet:ImageNetResNet50",
        summary="ImageNet (1,281,167 / 50,000), streamed, random resized crop and flip, ResNet-50",
        train_examples=1_281_167,
        metrics=CLASSIFICATION_METRICS,
        metaparameters=CLASSIFICATION_METAPARAMETERS,
        options=(*LOOP_OPTIONS, "on_error"),
        data_set="imagenet",
        target_note="recalled",
    ),
)
