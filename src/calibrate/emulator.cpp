// Normal equations with a ridge, solved by Cholesky's factors; the diagonal of the hat matrix gives the residuals of
// readings that are left out without fitting again.
#include "calibrate/emulator.h"

#include <algorithm>
#include <cmath>

namespace nearfar {
namespace {

constexpr double kRidge = 0.1;  // on each weight but the first; a reading counts 1

using FeatureVector = std::vector<double>;

/// One, then of each list an indicator for each value, of each range its place and the square of it.
FeatureVector features(const Calibration& calibration, const Reading& reading) {
  FeatureVector row = {1};
  for (std::size_t i = 0; i < calibration.open.size(); ++i) {
    const OpenParameter& parameter = calibration.open[i];
    if (parameter.range) {
      const double place = place_of(parameter, reading.at[i]) - 0.5;
      row.push_back(2 * place);
      row.push_back(4 * place * place);
      continue;
    }
    for (std::size_t level = 0; level < parameter.levels(); ++level)
      row.push_back(reading.at[i] == static_cast<double>(level) ? 1 : 0);
  }
  return row;
}

/// The lower factor of a symmetric positive definite matrix.
std::vector<FeatureVector> factor(std::vector<FeatureVector> matrix) {
  const std::size_t size = matrix.size();
  for (std::size_t j = 0; j < size; ++j) {
    for (std::size_t k = 0; k < j; ++k) matrix[j][j] -= matrix[j][k] * matrix[j][k];
    matrix[j][j] = std::sqrt(matrix[j][j]);
    for (std::size_t i = j + 1; i < size; ++i) {
      for (std::size_t k = 0; k < j; ++k) matrix[i][j] -= matrix[i][k] * matrix[j][k];
      matrix[i][j] /= matrix[j][j];
    }
  }
  return matrix;
}

FeatureVector solve_lower(const std::vector<FeatureVector>& lower, FeatureVector right) {
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) right[i] -= lower[i][k] * right[k];
    right[i] /= lower[i][i];
  }
  return right;
}

FeatureVector solve_upper(const std::vector<FeatureVector>& lower, FeatureVector right) {
  for (std::size_t i = right.size(); i-- > 0;) {
    for (std::size_t k = i + 1; k < right.size(); ++k) right[i] -= lower[k][i] * right[k];
    right[i] /= lower[i][i];
  }
  return right;
}

double product(const FeatureVector& a, const FeatureVector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

Emulator::Emulator(const Calibration& calibration, std::span<const Reading* const> readings,
                   std::span<const double> values)
    : calibration_(&calibration) {
  std::vector<FeatureVector> rows;
  for (const Reading* reading : readings) rows.push_back(features(calibration, *reading));
  const std::size_t size = rows.empty() ? 0 : rows.front().size();
  std::vector<FeatureVector> matrix(size, FeatureVector(size, 0));
  FeatureVector right(size, 0);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < size; ++i) {
      right[i] += rows[r][i] * values[r];
      for (std::size_t j = 0; j < size; ++j) matrix[i][j] += rows[r][i] * rows[r][j];
    }
  }
  for (std::size_t i = 0; i < size; ++i) matrix[i][i] += i == 0 ? 1e-9 : kRidge;
  const std::vector<FeatureVector> lower = factor(std::move(matrix));
  weights_ = solve_upper(lower, solve_lower(lower, right));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const FeatureVector half = solve_lower(lower, rows[r]);
    const double leverage = std::min(product(half, half), 0.999);
    const double left_out = (values[r] - product(weights_, rows[r])) / (1 - leverage);
    variance_ += left_out * left_out / static_cast<double>(rows.size());
  }
}

double Emulator::mean(const Reading& reading) const { return product(weights_, features(*calibration_, reading)); }

}  // namespace nearfar
