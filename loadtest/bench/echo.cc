// A grpc++ server that does nothing but what grpc++ does: `echo ADDRESS SIZE`.
//
// Every method takes one request and sends SIZE bytes made in advance, both without messages, over the callback API
// with its defaults.

#include <csignal>
#include <cstdlib>
#include <string>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

namespace {

class Call final : public grpc::ServerGenericBidiReactor {
 public:
  explicit Call(const grpc::ByteBuffer& response) : response_(response) { StartRead(&request_); }

  void OnReadDone(bool ok) override {
    if (ok) {
      StartWriteAndFinish(&response_, grpc::WriteOptions(), grpc::Status::OK);
    } else {
      Finish(grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "no request"));
    }
  }

  void OnDone() override { delete this; }

 private:
  grpc::ByteBuffer request_;
  // Shares its bytes with those of all calls.
  grpc::ByteBuffer response_;
};

class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(const std::string& response) {
    grpc::Slice slice(response);
    response_ = grpc::ByteBuffer(&slice, 1);
  }

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext*) override {
    return new Call(response_);
  }

 private:
  grpc::ByteBuffer response_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  // Before gRPC starts its threads, which inherit the mask.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  Service service(std::string(std::strtoul(arguments[2], nullptr, 10), '\0'));
  grpc::ServerBuilder builder;
  builder.AddListeningPort(arguments[1], grpc::InsecureServerCredentials());
  builder.RegisterCallbackGenericService(&service);
  const auto server = builder.BuildAndStart();
  if (!server) return 1;
  int signal;
  sigwait(&stop, &signal);
  server->Shutdown();
}
