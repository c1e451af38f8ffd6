// A grpc++ server without application code: `echo ADDRESS METHOD SIZE`.
//
// The method accepts a request and sends a precomputed response of SIZE bytes, both as bytes. It uses the callback API
// with its defaults.

#include <csignal>
#include <cstdlib>
#include <string>

#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/service_type.h>
#if __has_include(<grpcpp/impl/server_callback_handlers.h>)
#include <grpcpp/impl/server_callback_handlers.h>
#else  // gRPC before 1.52
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#endif

namespace {

using Handler = grpc::internal::CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer>;

// Written like a service with a raw method that protoc's gRPC plugin generates, because the generic API is slower.
class Echo final : public grpc::Service {
 public:
  Echo(const char* method, const std::string& response) {
    const grpc::Slice slice(response);
    response_ = grpc::ByteBuffer(&slice, 1);
    AddMethod(new grpc::internal::RpcServiceMethod(method, grpc::internal::RpcMethod::NORMAL_RPC, nullptr));
    MarkMethodRawCallback(0, new Handler([this](auto* context, auto*, auto* response) {
                            *response = response_;
                            auto* reactor = context->DefaultReactor();
                            reactor->Finish(grpc::Status::OK);
                            return reactor;
                          }));
  }

 private:
  grpc::ByteBuffer response_;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) return 2;
  // Block the signal before gRPC starts its threads, because they inherit the mask.
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  Echo service(arguments[2], std::string(std::strtoul(arguments[3], nullptr, 10), '\0'));
  grpc::ServerBuilder builder;
  builder.AddListeningPort(arguments[1], grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const auto server = builder.BuildAndStart();
  if (!server) return 1;
  int signal;
  sigwait(&stop, &signal);
  server->Shutdown();
}
