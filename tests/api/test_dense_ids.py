"""The comments of an action's fields name the dense ids of their kind of action."""

import re

from tools.over import over_games

from chatiere.engine import Game

from .descriptors import api_files

IDS = re.compile(r"Dense ids? (\d+)(?:-(\d+))?\b")


@over_games
def test_comments_name_the_dense_ids_of_each_kind_of_action(game: Game) -> None:
    file = next(file for file in api_files() if file.name.endswith(f"/{game.name}.proto"))
    messages = file.DESCRIPTOR.fields_by_name["message_type"].number
    [(number, action)] = [
        (number, message)
        for number, message in enumerate(file.message_type)
        if [oneof.name for oneof in message.oneof_decl] == ["action"]
    ]
    comments = {tuple(place.path): place.leading_comments for place in file.source_code_info.location}
    documented = {
        field.name: IDS.findall(" ".join(comments[messages, number, 2, index].split()))
        for index, field in enumerate(action.field)
    }
    assert documented == {
        kind.name: [(str(kind.first_id), "" if kind.last_id == kind.first_id else str(kind.last_id))]
        for kind in game.description.action_kinds
    }
