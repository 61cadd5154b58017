// Log density of a Stan model, without Jacobians, at each line of parameters of a file.
// Compiled after the class that stanc writes: see test_from_stan_and_pymc.py.

#include <stan/io/json/json_data.hpp>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

int main(int, char** files) {
  std::ifstream data_file(files[1]), points(files[2]);
  stan::json::json_data data(data_file);
  auto& model = new_model(data, 1, &std::cerr);
  for (std::string line; std::getline(points, line);) {
    std::istringstream numbers(line);
    std::vector<double> values;
    for (double value; numbers >> value;) values.push_back(value);
    Eigen::VectorXd constrained = Eigen::Map<Eigen::VectorXd>(values.data(), values.size()), free;
    model.unconstrain_array(constrained, free, &std::cerr);
    std::cout << std::setprecision(17) << model.log_prob(free, &std::cerr) << "\n";
  }
}
