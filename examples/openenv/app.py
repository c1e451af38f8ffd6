"""An OpenEnv server of games of Discat against `largest`: uvicorn app:app --port 8000."""

from chatiere.envs.openenv import create_app

app = create_app("discat", opponents="largest")
