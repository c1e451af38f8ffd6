// Plays one game of each kind, and prints the events as sentences: ./play HOST:PORT [LANGUAGE]
#include <grpcpp/grpcpp.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "chatiere/v1/game_service.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace api = chatiere::v1;

constexpr int kSeed = 7;

// Return the reason for a refusal: text in the player's language, and the name for programs.
std::string Sentence(const grpc::Status& refusal) {
  google::rpc::Status status;
  status.ParseFromString(refusal.error_details());
  google::rpc::LocalizedMessage text;
  text.set_message(refusal.error_message());
  google::rpc::ErrorInfo info;
  info.set_reason("without a reason");
  for (const auto& detail : status.details()) {
    if (detail.Is<google::rpc::LocalizedMessage>()) {
      detail.UnpackTo(&text);
    } else if (detail.Is<google::rpc::ErrorInfo>()) {
      detail.UnpackTo(&info);
    }
  }
  return text.message() + " (" + info.reason() + ")";
}

// A service that the host calls.
class Service {
 public:
  Service(const std::string& address, std::string language)
      : stub_(api::GameService::NewStub(grpc::CreateChannel(address, grpc::InsecureChannelCredentials()))),
        language_(std::move(language)) {}

  // Make a call, for example Call(&Stub::NewGame, request, &response).
  template <typename Method, typename Request, typename Response>
  grpc::Status Call(Method method, const Request& request, Response* response) {
    grpc::ClientContext context;
    context.AddMetadata("accept-language", language_);
    return (stub_.get()->*method)(&context, request, response);
  }

 private:
  std::unique_ptr<api::GameService::Stub> stub_;
  std::string language_;
};

void Check(const grpc::Status& status) {
  if (!status.ok()) throw std::runtime_error(Sentence(status));
}

// Play a game with the smallest number of players to its end. The code is the same for all games.
void Play(Service& service, const api::GameInfo& info) {
  std::cout << "=== " << info.name() << ", " << info.min_players() << " players\n";
  api::NewGameRequest wanted;
  wanted.set_game(info.name());
  wanted.set_players(info.min_players());
  wanted.set_seed(kSeed);
  wanted.mutable_include()->set_legal_actions(true);
  wanted.mutable_include()->set_score(true);
  api::NewGameResponse begun;
  Check(service.Call(&api::GameService::Stub::NewGame, wanted, &begun));
  // The host keeps the state in the position and sends it with each call.
  api::Position position = begun.position();
  for (bool refused = false;;) {
    for (const auto& event : position.events()) std::cout << event.label() << "\n";
    if (position.has_end()) break;
    // A player would choose one of these labels from a menu.
    std::vector<std::string> labels;
    for (const auto& action : position.legal_actions()) labels.push_back(action.label());
    const int index = 7919 * position.ply() % labels.size();
    std::cout << "> " << labels[index] << " (of " << labels.size() << ")\n";
    api::ApplyRequest move;
    *move.mutable_state() = position.state();
    *move.mutable_action() = position.legal_actions(index);
    *move.mutable_include() = wanted.include();
    api::ApplyResponse moved, again;
    Check(service.Call(&api::GameService::Stub::Apply, move, &moved));
    position = moved.position();
    if (refused) continue;
    // Try each action a second time, until one is refused.
    *move.mutable_state() = position.state();
    const grpc::Status status = service.Call(&api::GameService::Stub::Apply, move, &again);
    if ((refused = !status.ok())) std::cout << "refused: " << Sentence(status) << "\n";
  }
  std::cout << position.end().label() << ": totals";
  for (const int total : position.score().totals()) std::cout << " " << total;
  std::string between = ", won by seat ";
  for (const auto seat : position.score().winners()) {
    std::cout << between << seat;
    between = " and ";
  }
  std::cout << std::endl;
}

int main(int count, char** arguments) try {
  if (count < 2) throw std::runtime_error("usage: play HOST:PORT [LANGUAGE]");
  Service service(arguments[1], count > 2 ? arguments[2] : "en");
  api::ListGamesResponse listed;
  Check(service.Call(&api::GameService::Stub::ListGames, api::ListGamesRequest(), &listed));
  for (const auto& info : listed.games()) Play(service, info);
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
