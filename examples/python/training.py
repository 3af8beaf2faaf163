# SPDX-License-Identifier: Apache-2.0
"""Which section is a package in? A model learns it from what packages depend on, and says it of those that it has not seen."""
import warren


def main() -> None:
    data = warren.read_dataset("debian", symmetrize=True)
    print(data)

    def show(epoch: dict[str, float]) -> None:
        if epoch["epoch"] % 5 == 0:
            print(f"epoch {epoch['epoch']}: loss {epoch['loss']:.3f}, validation {epoch['validation_accuracy']:.3f}")

    result = warren.train(data, "sage", hidden=32, epochs=15, lr=0.05, progress=show)
    print(f"test accuracy {result.test_accuracy:.3f} (one answer for all: {result.chance:.3f})")

    found = result.predict().to_dict()
    print(f"git is taken for a package of section {found['git']}, python3 for one of section {found['python3']} (data/debian/classes.txt has their names)")


if __name__ == "__main__":
    main()
