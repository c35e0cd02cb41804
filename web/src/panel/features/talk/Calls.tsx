import { useEffect } from "react";
import { useNavigate } from "@tanstack/react-router";
import { hangUp } from "./call";
import { currentCall, useCall } from "./current";
import { addressOf } from "../inbox/address";
import { CallBar } from "./CallBar";
import { Ringing } from "./Ringing";
import { useRings } from "./useRings";
import "./talk.css";

/** Calls is what a teammate sees of talks on any page: who rings, and the talk that goes on. */
export default function Calls() {
  const call = useCall();
  const navigate = useNavigate();
  const show = (id: string, mine = false) =>
    void navigate({
      to: "/inbox",
      search: (now) => addressOf({ ...now, c: id, ...(mine && { folder: "mine", closed: undefined, q: undefined }) }),
    });
  const { list, silence } = useRings(show);
  useEffect(
    () => () => {
      if (currentCall()) hangUp();
    },
    [],
  ); // another company, or signed out
  useEffect(() => {
    document.documentElement.dataset.call = call ? "yes" : "no";
    return () => {
      delete document.documentElement.dataset.call;
    };
  }, [!!call]);
  return (
    <>
      {call && <CallBar call={call} show={() => show(call.id)} />}
      {!call && list.length > 0 && <Ringing list={list} show={show} silence={silence} />}
    </>
  );
}
