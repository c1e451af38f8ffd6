import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import com.google.rpc.LocalizedMessage;
import io.github.chatiere.v1.Action;
import io.github.chatiere.v1.ApplyRequest;
import io.github.chatiere.v1.Event;
import io.github.chatiere.v1.GameInfo;
import io.github.chatiere.v1.GameServiceGrpc;
import io.github.chatiere.v1.GameServiceGrpc.GameServiceBlockingStub;
import io.github.chatiere.v1.Include;
import io.github.chatiere.v1.ListGamesRequest;
import io.github.chatiere.v1.NewGameRequest;
import io.github.chatiere.v1.Position;
import io.github.chatiere.v1.Score;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.util.List;
import java.util.stream.Collectors;

/** Plays one game of each kind, and prints the events as sentences: Play HOST:PORT [LANGUAGE]. */
public class Play {
  private static final long SEED = 7;
  private static final Include INCLUDE = Include.newBuilder().setLegalActions(true).setScore(true).build();
  private static final Metadata.Key<byte[]> DETAILS =
      Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

  private final GameServiceBlockingStub service;
  /** The current position. It contains the state, which the host keeps and sends with each call. */
  private Position position;

  /** Begins a game with its smallest number of players. */
  Play(GameServiceBlockingStub service, GameInfo info) {
    this.service = service;
    NewGameRequest.Builder request = NewGameRequest.newBuilder().setGame(info.getName());
    request.setPlayers(info.getMinPlayers()).setSeed(SEED).setInclude(INCLUDE);
    position = service.newGame(request.build()).getPosition();
  }

  /** Returns the position after an action. */
  Position apply(Action action) {
    ApplyRequest.Builder request = ApplyRequest.newBuilder().setState(position.getState());
    return service.apply(request.setAction(action).setInclude(INCLUDE).build()).getPosition();
  }

  /** Plays to the end. The code is the same for all games. */
  void toTheEnd() throws InvalidProtocolBufferException {
    boolean refused = false;
    while (true) {
      position.getEventsList().stream().map(Event::getLabel).forEach(System.out::println);
      if (position.hasEnd()) {
        return;
      }
      // A player would choose one of these labels from a menu.
      List<String> labels =
          position.getLegalActionsList().stream().map(Action::getLabel).collect(Collectors.toList());
      int index = 7919 * position.getPly() % labels.size();
      System.out.printf("> %s (of %d)%n", labels.get(index), labels.size());
      Action action = position.getLegalActions(index);
      position = apply(action);
      if (!refused) {
        // Try each action a second time, until one is refused.
        try {
          apply(action);
        } catch (StatusRuntimeException error) {
          System.out.println("refused: " + sentence(error));
          refused = true;
        }
      }
    }
  }

  /** Returns the reason for a refusal: text in the player's language, and the name for programs. */
  static String sentence(StatusRuntimeException error) throws InvalidProtocolBufferException {
    String text = error.getMessage();
    String reason = "without a reason";
    Metadata trailers = error.getTrailers();
    if (trailers != null && trailers.containsKey(DETAILS)) {
      for (Any detail : com.google.rpc.Status.parseFrom(trailers.get(DETAILS)).getDetailsList()) {
        if (detail.is(LocalizedMessage.class)) {
          text = detail.unpack(LocalizedMessage.class).getMessage();
        } else if (detail.is(ErrorInfo.class)) {
          reason = detail.unpack(ErrorInfo.class).getReason();
        }
      }
    }
    return text + " (" + reason + ")";
  }

  static String listed(List<Integer> numbers, String between) {
    return numbers.stream().map(String::valueOf).collect(Collectors.joining(between));
  }

  public static void main(String[] arguments) throws InvalidProtocolBufferException {
    Metadata headers = new Metadata();
    String language = arguments.length > 1 ? arguments[1] : "en";
    headers.put(Metadata.Key.of("accept-language", Metadata.ASCII_STRING_MARSHALLER), language);
    ManagedChannel channel = ManagedChannelBuilder.forTarget(arguments[0]).usePlaintext().build();
    GameServiceBlockingStub service =
        GameServiceGrpc.newBlockingStub(channel)
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers));
    for (GameInfo info : service.listGames(ListGamesRequest.getDefaultInstance()).getGamesList()) {
      System.out.printf("=== %s, %d players%n", info.getName(), info.getMinPlayers());
      Play play = new Play(service, info);
      play.toTheEnd();
      Score score = play.position.getScore();
      System.out.print(play.position.getEnd().getLabel() + ": totals " + listed(score.getTotalsList(), " "));
      System.out.println(", won by seat " + listed(score.getWinnersList(), " and "));
    }
    channel.shutdownNow();
  }
}
